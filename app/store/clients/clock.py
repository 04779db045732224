"""The store's clock: for moments that several processes compare. Their own may differ, and jump."""

from __future__ import annotations

import threading
import time
from collections import deque
from contextlib import suppress

import redis

from app.domain import StoreAway
from app.store.clients.redis import answering

FRESH = 1.0  # s for which an answer is believed; clocks drift apart by microseconds in that
LOOKS = 8  # of which the best is believed: an answer may lie about until our thread has a turn


def now(store: redis.Redis) -> int:
    """ms since 1970 by the store's clock, asked for now. On a cluster, of any of its nodes."""
    seconds, micros = store.time()
    return int(seconds) * 1000 + int(micros) // 1000


class StoreClock:
    """Runs between two looks, also while the store is away. Threads share it."""

    def __init__(self, store: redis.Redis) -> None:
        self.store = store
        self.looked = 0.0
        # ms that the store is ahead of our monotonic clock, each too little by an answer's way.
        self.ahead: deque[float] = deque(maxlen=LOOKS)
        self.looking = threading.Lock()

    def now(self, ask: bool = True) -> int:
        """ms since 1970; late by the quickest answer's way at the most, never early.

        Without `ask` it goes by what is known, and no caller waits for a store that hangs. Raises
        StoreAway when the store has never answered yet.
        """
        if not self.ahead:
            self._look()
        elif (
            ask and time.monotonic() - self.looked > FRESH and self.looking.acquire(blocking=False)
        ):
            try:  # one asks, the others go by what is known
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
        finally:  # one who is away is not asked again sooner
            self.looked = time.monotonic()
