"""celery-once: the lock of its backend, as a task takes and clears it."""

from celery_once import AlreadyQueued
from celery_once.backends.redis import Redis

from matrix.inside import alone, one_at_a_time


def run(redis, name):
    once = object.__new__(Redis)  # its constructor keeps one client in a variable of the module
    once._redis, once.blocking, once.blocking_timeout = redis, False, 1
    try:
        once.raise_or_lock("task", timeout=10)
    except AlreadyQueued:
        return None
    inside = alone(redis, name)
    once.clear_lock("task")
    return inside


ENTRIES = (
    {
        "library": "celery-once",
        "kind": "lock",
        "what": "a task, locked and cleared",
        "claim": "Celery Once allows you to prevent multiple execution and queuing of",
        "actors": [run] * 3,
        "invariant": one_at_a_time,
        "faults": "crash=1,lost=1",
    },
)
