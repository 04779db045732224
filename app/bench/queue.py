"""The flagship's rows: around any critical section, and fused with it."""

from __future__ import annotations

import time
from functools import partial

from fairlock import FusedLock, Lock

from app.bench.contender import WAIT_S, Attempt, Contender, Guarded, Names
from app.store.servers import Servers

COHORT = 64  # passes between threads of one process, at most


def any_section(cohort: int, servers: Servers, names: Names, lease: int) -> Contender:
    """As in the place of redis-py's Lock, by its drop-in."""
    store = servers.store
    lock = Lock(store, names.lock, timeout=lease, blocking_timeout=WAIT_S, cohort=cohort)
    return Guarded(lock, store, names)


class Inlined:
    """The section of the other rows, its commands travelling with the lock."""

    def __init__(self, servers: Servers, names: Names, lease: int) -> None:
        self.lock = FusedLock(servers.store, names.lock)
        self.names = names

    def sell(self) -> Attempt:
        asked = time.monotonic()
        values = self.lock.acquire([self.names.stock], WAIT_S)
        waited = time.monotonic() - asked
        if values is None:
            return Attempt(waited, sold=False)
        left = int(values[0]) - 1
        sold = self.lock.release(
            ["SET", self.names.stock, left],
            ["XADD", self.names.sales, "*", "left", left],
        )
        return Attempt(waited, sold)


no_cohort = partial(any_section, 0)
cohort = partial(any_section, COHORT)
