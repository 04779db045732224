"""What may go wrong in a schedule, and how often."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple


class Fault(NamedTuple):
    """One kind of them, in words and letters. What it does, search and backends say."""

    name: str
    one: bool  # it befalls one actor, and not everybody
    letter: str  # in a schedule that is written as a word
    drawn: str  # in a chart; {} is how long it takes


FAULTS = (
    # An actor stops for ever, at any step; its connections close.
    Fault("crash", True, "x", "X CRASHES, for ever"),
    # Everybody stands still until a lease or a wait is over.
    Fault("pause", False, "p", "EVERYBODY STANDS STILL for {}"),
    # A command is done, and its reply never comes: the connection broke.
    Fault("lost", True, "l", ", WHICH IS LOST"),
    # Another server takes over, which has not heard of the last write.
    Fault("failover", False, "f", "FAILOVER: the new server has not heard of the last write"),
)
DRAWN = {fault.name: fault.drawn for fault in FAULTS}


class Faults(NamedTuple):
    """How many of each may happen."""

    crash: int = 0
    pause: int = 0
    lost: int = 0
    failover: int = 0

    def less(self, name: str) -> Faults:
        return _less(self, name)


@cache
def _less(faults: Faults, name: str) -> Faults:
    return faults._replace(**{name: getattr(faults, name) - 1})
