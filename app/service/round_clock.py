"""The clock of a round: who waits by it is woken when the worker leaves the round."""

from __future__ import annotations

import threading

from app.domain import Clock, RoundLeft


class RoundClock(Clock):
    """A waiter ends with its round, whether it stands before a lock or thinks.

    It may be after the sale, at a release that did not come through: then look for its key.
    """

    def __init__(self) -> None:
        self.over = threading.Event()

    def sleep(self, seconds: float) -> None:
        """Raises RoundLeft."""
        if self.over.wait(seconds):
            raise RoundLeft
