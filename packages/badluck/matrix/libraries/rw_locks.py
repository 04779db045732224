"""redis-rw-lock and redisrwlock: two writers each."""

import time

from redis_rw_lock import RWLock
from redisrwlock import Rwlock, RwlockClient

from matrix.inside import alone, one_at_a_time


def write(redis, name):
    lock = RWLock(redis, "door", RWLock.WRITE, expire=30)
    lock.acquire()
    inside = alone(redis, name)
    lock.release()
    return inside


def try_to_write(redis, name):
    redis.client_setname = lambda _: None  # needed only by its garbage collector
    redis.time = lambda: (int(time.time()), 0)  # the µs would differ from server to server
    client = RwlockClient(redis, "node", name)
    lock = client.lock("door", Rwlock.WRITE)
    if lock.status != Rwlock.OK:
        return None
    inside = alone(redis, name)
    client.unlock(lock)
    return inside


ENTRIES = (
    {
        "library": "redis-rw-lock",
        "kind": "lock",
        "what": "`RWLock(WRITE, expire=30)`",
        "claim": "Redis based Reader-Writer lock with Writer's priority.",
        "actors": [write] * 2,
        "invariant": one_at_a_time,
        "meant": "lock deleted by another",
        "why": "the last writer deletes the key that the first one took, as intended",
    },
    {
        "library": "redisrwlock",
        "kind": "lock",
        "what": "`lock(WRITE)`",
        "claim": "Reader-writer lock (can have multiple readers or one exclusive writer)",
        "actors": [try_to_write] * 3,
        "invariant": one_at_a_time,
        "faults": "crash=1,lost=1",
        "documented": "When a client exits without unlock, redis keys for the client's locks "
        "remain in server and block other clients from successful locking.",
    },
)
