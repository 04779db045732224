"""A contender for the item, and the critical section that all of them share."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import redis

LEASE = 10  # s. Every lock's: far longer than any section here, so that none runs out
# s after which one of our recipes gives up: longer than a lease that was not released, and short
# enough for an exhibit that never lets go to end within its cell.
WAIT_S = 15.0
ANSWER = LEASE + 5  # s to wait for an answer: python-redis-lock stays in BLPOP for a whole lease


@dataclass(frozen=True)
class Names:
    """The keys of one cell. One hash tag, so that a script may use them together."""

    lock: str
    stock: str
    sales: str

    @classmethod
    def of(cls, cell: str) -> Names:
        return cls(f"{{{cell}}}:lock", f"{{{cell}}}:stock", f"{{{cell}}}:sales")


class Attempt(NamedTuple):
    """One turn of a contender: seconds from asking for the lock to having it (or giving up)."""

    waited: float
    sold: bool


class Contender(Protocol):
    """A contender for the item, made in the thread that uses it, for that thread alone."""

    def sell(self) -> Attempt:
        """Acquire, sell one unit, release."""
        ...


class Mutex(Protocol):
    """The common interface of redis-py's, python-redis-lock's, pottery's and sherlock's locks."""

    def acquire(self) -> bool: ...

    def release(self) -> object: ...


class Guarded:
    """Any lock around the critical section that all rows share."""

    def __init__(self, lock: Mutex, store: redis.Redis, names: Names) -> None:
        self.lock = lock
        self.store = store
        self.names = names

    def sell(self) -> Attempt:
        start = time.monotonic()
        mine = self.lock.acquire()
        waited = time.monotonic() - start
        if mine:
            try:
                self.critical_section()
            finally:
                self.lock.release()
        return Attempt(waited, mine)

    def critical_section(self) -> None:
        """GET, then a blind MULTI: two round trips, and nothing but the lock guards the write."""
        stock = self.store.get(self.names.stock)
        if stock is None:
            raise LookupError(f"no stock under {self.names.stock}")
        left = int(stock) - 1
        with self.store.pipeline() as pipe:
            pipe.set(self.names.stock, left)
            pipe.xadd(self.names.sales, {"left": left})
            pipe.execute()
