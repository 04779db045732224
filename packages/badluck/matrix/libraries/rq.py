"""rq: a unique job, the claim of a job, and the lock of its scheduler."""

from rq import Queue
from rq.exceptions import DuplicateJobError
from rq.scripts import acquire_or_refresh_lock, release_lock

from matrix.inside import alone, at_most_one, once, one_at_a_time


def queue(redis):
    setattr(redis, "__rq_redis_server_version", (7, 0, 15))
    return Queue("q", connection=redis)


def enqueue(redis):
    try:
        queue(redis).enqueue("math.sqrt", 4, job_id="job", unique=True)
    except DuplicateJobError:
        return False
    return True


def fill(redis):
    queue(redis).enqueue("math.sqrt", 4, job_id="job")


def take(redis):
    job_and_queue = Queue.dequeue_any([queue(redis)], None, connection=redis)
    return job_and_queue and job_and_queue[0].id


def schedule(redis, name):
    if acquire_or_refresh_lock(redis, "scheduler", name, 10) == "taken":
        return None
    inside = alone(redis, name)
    release_lock(redis, "scheduler", name)
    return inside


ENTRIES = (
    {
        "library": "rq",
        "kind": "queue",
        "what": "`enqueue(unique=True)`",
        "claim": "You can prevent duplicate jobs from being enqueued by using the `unique` "
        "parameter",
        "actors": [enqueue] * 3,
        "invariant": at_most_one,
        "faults": "crash=1,lost=1",
        "shares": {"rq.scripts._registered_scripts": "a script for each client, by the client"},
    },
    {
        "library": "rq",
        "kind": "queue",
        "what": "one job, taken by three",
        "claim": "RQ is a simple, lightweight, library for creating background jobs, and "
        "processing them.",
        "setup": fill,
        "actors": [take] * 3,
        "invariant": once,
        "faults": "crash=1,lost=1",
    },
    {
        "library": "rq",
        "kind": "lock",
        "what": "the lock of its scheduler",
        "claim": "Atomically acquire a lock or refresh its TTL if already held by `owner_token`.",
        "actors": [schedule] * 3,
        "invariant": one_at_a_time,
        "faults": "crash=1,lost=1",
    },
)
