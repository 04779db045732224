"""redlock-py, with one server."""

from redlock import Redlock

from matrix.inside import alone, one_at_a_time


def work(redis, name):
    manager = Redlock([redis], retry_count=1)
    lock = manager.lock("door", 10_000)
    if not lock:
        return None
    inside = alone(redis, name)
    manager.unlock(lock)
    return inside


ENTRIES = (
    {
        "library": "redlock-py",
        "kind": "lock",
        "what": "`lock(ttl=10000)` on one server",
        "claim": "This python lib implements the Redis-based distributed lock manager algorithm",
        "actors": [work] * 3,
        "invariant": one_at_a_time,
        "faults": "crash=1,lost=1",
    },
)
