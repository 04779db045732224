"""The locks of other libraries, each used as in its documentation, one object per contender.

All wait until they have the lock. The libraries are development dependencies, so each is imported
where it is used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import redis

from app.store.servers import Servers
from loadtest.bench.contender import Contender, Guarded, Mutex, Names

REDLOCK_PY_DELAY = 0.01  # s; its own default of 0.2 s would starve, see redis-py at 0.1 s


def redis_py(store: redis.Redis, name: str, lease: int) -> Mutex:
    lock: Mutex = store.lock(name, timeout=lease, sleep=0.1)
    return lock


def redis_py_1ms(store: redis.Redis, name: str, lease: int) -> Mutex:
    lock: Mutex = store.lock(name, timeout=lease, sleep=0.001)
    return lock


def python_redis_lock(store: redis.Redis, name: str, lease: int) -> Mutex:
    import redis_lock

    lock: Mutex = redis_lock.Lock(store, name, expire=lease)
    return lock


def pottery(store: redis.Redis, name: str, lease: int) -> Mutex:
    from pottery import Redlock

    return Redlock(key=name, masters={store}, auto_release_time=lease, raise_on_redis_errors=True)


def sherlock(store: redis.Redis, name: str, lease: int) -> Mutex:
    from sherlock import RedisLock

    # Its time-out has no value for "forever".
    lock: Mutex = RedisLock(
        name, client=store, expire=lease, timeout=sys.maxsize, retry_interval=0.1
    )
    return lock


class RedlockPy:
    """redlock-py: its manager returns a ticket for each acquire, and release takes the ticket."""

    def __init__(self, store: redis.Redis, name: str, lease: int) -> None:
        from redlock import Redlock

        self.manager = Redlock([store], retry_count=sys.maxsize, retry_delay=REDLOCK_PY_DELAY)
        self.name = name
        self.lease = lease

    def acquire(self) -> bool:
        self.ticket = self.manager.lock(self.name, self.lease * 1000)
        return bool(self.ticket)

    def release(self) -> None:
        self.manager.unlock(self.ticket)


def contender(
    lock: Callable[[redis.Redis, str, int], Mutex], servers: Servers, names: Names, lease: int
) -> Contender:
    return Guarded(lock(servers.store, names.lock, lease), servers.store, names)
