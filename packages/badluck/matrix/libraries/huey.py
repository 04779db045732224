"""huey: its queue, its lock of a task and its rate limit."""

from huey import RedisHuey
from huey.exceptions import RateLimitExceeded, TaskLockedException

from matrix.inside import alone, at_most_one, once, one_at_a_time


def app(redis):
    made = RedisHuey("app", connection_pool=redis.connection_pool)
    made.storage.supports_hash_ttl = True  # as in Valkey 9; otherwise it would send INFO
    return made


def call(redis):
    try:
        with app(redis).rate_limit("calls", limit=1, per=3600):
            return True
    except RateLimitExceeded:
        return False


def run(redis, name):
    try:
        with app(redis).lock_task("task"):
            return alone(redis, name)
    except TaskLockedException:
        return None


def run_until_it_may(redis, name):
    lock = app(redis).lock_task("task", ttl=10)
    while True:
        try:
            lock.acquire()
        except TaskLockedException:
            continue
        lock.release()
        return True


def take(redis):
    job = app(redis).storage.dequeue()
    return job and job.decode()


def fill(redis):
    app(redis).storage.enqueue(b"job")


HUEY = {"library": "huey"}
ENTRIES = (
    HUEY
    | {
        "kind": "queue",
        "what": "one job, taken by three",
        "claim": "a little task queue",
        "setup": fill,
        "actors": [take] * 3,
        "invariant": once,
        "faults": "crash=1,lost=1",
    },
    HUEY
    | {
        "kind": "lock",
        "what": "`lock_task()`",
        "claim": "Utilize the Storage key/value APIs to implement simple locking.",
        "actors": [run] * 3,
        "invariant": one_at_a_time,
        "faults": "crash=1,lost=1",
    },
    HUEY
    | {
        "kind": "lock",
        "what": "`lock_task(ttl=10)`, tried until it succeeds",
        "claim": "Utilize the Storage key/value APIs to implement simple locking.",
        "actors": [run_until_it_may] * 2,
        "faults": "crash=1",
        "why": "HSETNX and HEXPIRE are two commands. A process that crashes in between leaves a "
        "lock that never expires, whatever its ttl.",
    },
    HUEY
    | {
        "kind": "limiter",
        "what": "`rate_limit(limit=1, per=3600)`",
        "claim": "The 11th call in a given 60s period will be retried at the start of the next "
        "window",
        "source": "its docs, api.rst",
        "actors": [call] * 2,
        "invariant": at_most_one,
        "why": "A call that finds a new window deletes the counter, stores the window and counts "
        "itself, in three commands. So a second call deletes the first one's count.",
    },
)
