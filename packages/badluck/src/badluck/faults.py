"""What may go wrong in a schedule, and how often."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple


class Faults(NamedTuple):
    crash: int = 0  # an actor stops for ever, at any step; its connections close
    pause: int = 0  # everybody stands still until a lease or a wait is over
    lost: int = 0  # a command is done, and its reply never comes: the connection broke
    failover: int = 0  # another server takes over, which has not heard of the last write

    def less(self, name: str) -> Faults:
        return _less(self, name)


@cache
def _less(faults: Faults, name: str) -> Faults:
    return faults._replace(**{name: getattr(faults, name) - 1})
