"""celery-singleton: the lock of its backend, as a task takes and releases it."""

from celery_singleton.backends.redis import RedisBackend

from matrix.inside import alone, one_at_a_time


def run(redis, name):
    backend = RedisBackend("redis://nowhere")
    backend.redis = redis
    if not backend.lock("task", name, expiry=10):
        return None
    inside = alone(redis, name)
    backend.unlock("task")
    return inside


ENTRIES = (
    {
        "library": "celery-singleton",
        "kind": "lock",
        "what": "a task, locked and unlocked",
        "claim": "Prevent duplicate celery tasks",
        "actors": [run] * 3,
        "invariant": one_at_a_time,
        "faults": "crash=1,lost=1",
    },
)
