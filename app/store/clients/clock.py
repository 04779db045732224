"""The store's clock, for moments that several processes compare: their own clocks may differ."""

from __future__ import annotations

import threading
import time
from collections import deque
from contextlib import suppress

import redis

from app.domain import StoreAway
from app.store.clients.redis import answering

FRESH = 1.0  # s for which an answer is used; clocks drift apart by microseconds in that time
LOOKS = 8  # of which the best is used: an answer may wait until our thread gets the CPU


def now(store: redis.Redis) -> int:
    """Return ms since 1970 by the store's clock, asked for now; on a cluster, by any node's."""
    seconds, micros = store.time()
    return int(seconds) * 1000 + int(micros) // 1000


class StoreClock:
    """The store's clock, estimated between two answers, also while the store is away.

    Thread-safe.
    """

    def __init__(self, store: redis.Redis) -> None:
        self.store = store
        self.looked = 0.0
        # ms that the store is ahead of our monotonic clock, each too small by an answer's way.
        self.ahead: deque[float] = deque(maxlen=LOOKS)
        self.looking = threading.Lock()

    def now(self, ask: bool = True) -> int:
        """Return ms since 1970; late by the quickest answer's way at most, never early.

        Without `ask` it uses the last answer, and no caller waits for a store that hangs. Raises
        StoreAway when the store has never answered.
        """
        if not self.ahead:
            self._look()
        elif (
            ask and time.monotonic() - self.looked > FRESH and self.looking.acquire(blocking=False)
        ):
            try:  # one thread asks, the others use the last answer
                with suppress(StoreAway):
                    self._look()
            finally:
                self.looking.release()
        return int(max(self.ahead) + time.monotonic() * 1000)

    def _look(self) -> None:
        try:
            with answering():
                store_ms = now(self.store)
            self.ahead.append(store_ms - time.monotonic() * 1000)
        finally:  # a store that is away is not asked again sooner
            self.looked = time.monotonic()
