"""walrus: a lock with a BLPOP, two rate limiters, a counter."""

import time

from walrus import Database

from matrix.inside import FOUND_OUT, alone, at_most_one, one_at_a_time

TWO_MONTHS = 60 * 86_400  # s; longer than any pause, so that a second call is always wrong


def database(redis):
    return Database(connection_pool=redis.connection_pool)


def work(redis, name, ttl=10_000):
    try:
        with database(redis).lock("door", ttl=ttl):
            inside = alone(redis, name)
    except RuntimeError:
        return FOUND_OUT
    return inside


def work_briefly(redis, name):
    return work(redis, name, 900)


def call(redis):
    return not database(redis).rate_limit("calls", limit=1, per=60).limit("me")


def call_by_script(redis):
    limiter = database(redis).rate_limit_lua("calls", limit=1, per=TWO_MONTHS)
    # Like `limit`, but in whole seconds: each kind of server writes fractions in its own way.
    args = [1, TWO_MONTHS, int(time.time())]
    return not limiter.database.run_script("rate_limit", keys=["calls:me"], args=args)


def count(redis):
    database(redis).counter("n").incr()


def both_counted(redis):
    return int(redis.get("counter:n")) == 2


def load(redis):
    for script in database(redis)._scripts.values():
        redis.script_load(script.script)


WALRUS = {"library": "walrus", "setup": load}
LOCK = WALRUS | {
    "kind": "lock",
    "claim": "You can set a TTL on a lock to reduce the potential for deadlocks in the event of a "
    "crash.",
    "invariant": one_at_a_time,
}
LIMITER = WALRUS | {
    "kind": "limiter",
    "claim": 'Allows up to "limit" number of events every per the given number of seconds.',
    "invariant": at_most_one,
}
ENTRIES = (
    LOCK | {"what": "`lock(ttl=10000)`", "actors": [work] * 3, "faults": "crash=1,lost=1"},
    LOCK
    | {
        "what": "`lock(ttl=10000)`, with a pause past its expiry",
        "actors": [work] * 2,
        "faults": "pause=1",
        "documented": "If a lock is not released before it exceeds its TTL, and threads that are "
        "blocked waiting for the lock could potentially re-acquire it.",
    },
    LOCK
    | {
        "what": "`lock(ttl=900)`",
        "actors": [work_briefly] * 2,
        "faults": "crash=1",
        "why": "A waiter sends `BLPOP event, ttl // 1000`. For a TTL below 1000 ms that is 0, "
        "which means forever. If the holder crashes, the lock expires, but no message wakes the "
        "waiter. (With a `socket_timeout`, redis-py 8's default, it gets a TimeoutError instead.)",
    },
    LIMITER
    | {
        "what": "`rate_limit(limit=1, per=60)`",
        "actors": [call] * 2,
        "why": "LLEN and LPUSH are two commands, so both processes see an empty list. (The docs "
        "say that RateLimitLua is atomic. They do not say that this one is not.)",
    },
    LIMITER
    | {
        "what": "`rate_limit_lua(limit=1, per=5184000)`, called in whole seconds",
        "actors": [call_by_script] * 3,
        "faults": "crash=1,lost=1,pause=1",
        "why": "The script keeps the list for `limit * 2000` ms instead of `per * 2000` ms. With a "
        "limit of 1 the list expires 2 s after a refused event, two months too early.",
    },
    WALRUS
    | {
        "kind": "counter",
        "what": "`counter(name).incr()`",
        "claim": "Simple counter.",
        "actors": [count] * 2,
        "at_end": both_counted,
        "why": "The constructor checks whether the key exists, and sets it to 0 if not. So counts "
        "of other processes in between are lost.",
    },
)
