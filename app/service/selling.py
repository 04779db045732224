"""A running round as one worker knows it, and how it sells in it."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from app.domain import Clock, Round, RoundLeft
from app.modes import MODES, Mode
from app.store.keys import Keys
from app.store.servers import Servers


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


@dataclass(frozen=True, slots=True)
class Selling:
    round: Round
    mode: Mode
    clock: RoundClock
    keys: Keys

    @classmethod
    def of(cls, round: Round, servers: Servers) -> Selling:
        clock = RoundClock()
        mode = MODES[round.mode.partition(":")[0]](servers, clock, round)
        return cls(round, mode, clock, Keys(round.item, round.number))
