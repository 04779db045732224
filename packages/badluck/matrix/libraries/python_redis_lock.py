"""python-redis-lock: SET NX, and a BLPOP that waits for a release."""

from redis_lock import Lock, NotAcquired

from matrix.inside import FOUND_OUT, alone, one_at_a_time


def work(redis, name, expire=10):
    try:
        with Lock(redis, "door", expire=expire):
            inside = alone(redis, name)
    except NotAcquired:
        return FOUND_OUT
    return inside


def work_without_expiry(redis, name):
    return work(redis, name, None)


def load(redis):
    Lock.register_scripts(redis)
    redis.script_load(Lock.unlock_script.script)


SCRIPT = "a script; each lock calls it with a client of its own"
LOCK = {
    "library": "python-redis-lock",
    "kind": "lock",
    "claim": "A Lock context manager implemented via redis SETNX/BLPOP.",
    "setup": load,
    "invariant": one_at_a_time,
    "shares": {
        "redis_lock.reset_all_script": SCRIPT,
        "redis_lock.Lock.unlock_script": SCRIPT,
        "redis_lock.Lock.extend_script": SCRIPT,
        "redis_lock.Lock.reset_script": SCRIPT,
        "redis_lock.Lock.reset_all_script": SCRIPT,
    },
}
ENTRIES = (
    LOCK | {"what": "`Lock(expire=10)`", "actors": [work] * 3, "faults": "crash=1,lost=1"},
    LOCK
    | {
        "what": "`Lock()`",
        "actors": [work_without_expiry] * 3,
        "faults": "crash=1",
        "documented": "In some cases, the lock remains in redis forever (like a server blackout / "
        "redis or application crash",
    },
    LOCK
    | {
        "what": "`Lock(expire=10)`, with a pause past its expiry",
        "actors": [work] * 2,
        "faults": "pause=1",
        "documented": "The lock expiry time in seconds.",
    },
)
