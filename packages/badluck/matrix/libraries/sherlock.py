"""sherlock: SETNX and EXPIRE in one script."""

from contextlib import suppress

from sherlock import LockException, LockTimeoutException, RedisLock

from matrix.inside import alone, one_at_a_time


def work(redis, name, expire=10):
    lock = RedisLock("door", client=redis, expire=expire, timeout=1, retry_interval=0.5)
    try:
        lock.acquire()
    except LockTimeoutException:
        return None
    inside = alone(redis, name)
    with suppress(LockException):  # the lease was over
        lock.release()
    del lock  # its destructor releases once more, before this function returns
    return inside


def work_without_expiry(redis, name):
    return work(redis, name, None)


def load(redis):
    redis.script_load(RedisLock._acquire_script)
    redis.script_load(RedisLock._release_script)


LOCK = {
    "library": "sherlock",
    "kind": "lock",
    "claim": "Sherlock is a library that provides easy-to-use distributed inter-process locks",
    "setup": load,
    "invariant": one_at_a_time,
}
ENTRIES = (
    LOCK | {"what": "`RedisLock(expire=10)`", "actors": [work] * 3, "faults": "crash=1,lost=1"},
    LOCK
    | {
        "what": "`RedisLock(expire=10)`, with a pause past its expiry",
        "actors": [work] * 2,
        "faults": "pause=1",
        "documented": "set lock expiry time.",
    },
    LOCK
    | {
        "what": "`RedisLock(expire=None)`",
        "claim": "If explicitly set to `None`, lock will not expire.",
        "actors": [work_without_expiry] * 2,
        "why": "The script checks `ARGV[2] ~= -1`. An argument is a string, so that is always "
        "true. `EXPIRE key -1` then deletes the lock at once, and every process gets it.",
    },
)
