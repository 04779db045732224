"""Backoff for streams that fail alone: they pause, so that other streams need not wait for them."""

from __future__ import annotations

import logging
import threading
import time

import redis

from app.domain import ShopError

SHORTEST_PAUSE = 0.1  # s before the first new try; doubled with each that fails
LONGEST_PAUSE = 2.0  # s

log = logging.getLogger(__name__)


class StreamBackoff:
    """Pauses of failing streams, by name. Used by several threads."""

    def __init__(self) -> None:
        self.pauses: dict[str, tuple[float, float]] = {}  # name -> s, when it is over
        self.said: dict[str, str] = {}  # name -> error
        self.lock = threading.Lock()

    def back_off(self, name: str, error: Exception) -> float:
        """Leave a stream alone, for SHORTEST_PAUSE at first and longer with each failure.

        Return the pause in s. An unexpected error is logged with its trace.
        """
        now = time.monotonic()
        with self.lock:
            pause = min(LONGEST_PAUSE, 2 * self.pauses.get(name, (SHORTEST_PAUSE / 2, 0.0))[0])
            self.pauses[name] = pause, now + pause
            is_new = self.said.get(name) != repr(error)
            self.said[name] = repr(error)
        if is_new:
            trace = None if isinstance(error, redis.RedisError | ShopError) else error
            log.warning("%s stands aside and is tried again: %s", name, error, exc_info=trace)
        return pause

    def waits(self, name: str) -> bool:
        """Return whether the stream's pause is not over yet."""
        return time.monotonic() < self.pauses.get(name, (0.0, 0.0))[1]

    def answered(self, name: str) -> None:
        """Forget the pauses of a stream that has answered."""
        with self.lock:
            self.pauses.pop(name, None)
            self.said.pop(name, None)
