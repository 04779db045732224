"""The store's clock: for moments that several processes compare. Their own may differ, and jump."""

from __future__ import annotations

import threading
import time

import redis

from app.domain import StoreAway
from app.store.redis import answering

FRESH = 1.0  # s for which an answer is believed; clocks drift apart by microseconds in that


def now(store: redis.Redis) -> int:
    """ms since 1970 by the store's clock, asked for now. On a cluster, of any of its nodes."""
    seconds, micros = store.time()
    return int(seconds) * 1000 + int(micros) // 1000


class StoreClock:
    """Goes on by itself between two looks, also while the store is away. Threads share it."""

    def __init__(self, store: redis.Redis) -> None:
        self.store = store
        self.known: tuple[float, int] | None = None  # (moment of the look, what it said)
        self.looking = threading.Lock()

    def now(self) -> int:
        """ms since 1970; late by a round trip at the most, never early.

        Raises StoreAway when the store has never answered yet.
        """
        known = self.known or self._look()
        looked, said = known
        if time.monotonic() - looked > FRESH and self.looking.acquire(blocking=False):
            try:  # one asks, the others go by what is known
                looked, said = self._look()
            except StoreAway:  # not asked again for as long as an answer would be believed
                self.known = looked, said = time.monotonic(), _since(looked, said)
            finally:
                self.looking.release()
        return _since(looked, said)

    def _look(self) -> tuple[float, int]:
        with answering():
            said = now(self.store)
        self.known = time.monotonic(), said
        return self.known


def _since(looked: float, said: int) -> int:
    return said + int((time.monotonic() - looked) * 1000)
