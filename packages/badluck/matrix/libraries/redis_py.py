"""redis: the Lock of redis-py itself."""

from redis.exceptions import LockError

from matrix.inside import FOUND_OUT, alone, one_at_a_time


def work(redis, name):
    try:
        with redis.lock("door", timeout=10):
            inside = alone(redis, name)
    except LockError:
        return FOUND_OUT
    return inside


LOCK = {
    "library": "redis",
    "kind": "lock",
    "claim": "Using Redis for locking allows the Lock to be shared across processes and/or "
    "machines.",
    "invariant": one_at_a_time,
    "shares": {
        f"redis.lock.Lock.lua_{name}": "a script; each lock calls it with a client of its own"
        for name in ("release", "extend", "reacquire")
    }
    | {
        "redis.observability.providers._observability_instance": "made once; no provider is set, "
        "and it counts nothing",
    },
}
ENTRIES = (
    LOCK | {"what": "`lock(timeout=10)`", "actors": [work] * 3, "faults": "crash=1,lost=1"},
    LOCK
    | {
        "what": "`lock(timeout=10)`, with a pause past its expiry",
        "actors": [work] * 2,
        "faults": "pause=1",
        "documented": "indicates a maximum life for the lock in seconds.",
    },
)
