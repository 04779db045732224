"""What may go wrong in a schedule, and how often."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, Self


class Faults(NamedTuple):
    crash: int = 0  # a buyer stops for ever, at any step; its connections close
    pause: int = 0  # everybody stands still until a lease or a wait is over
    lost: int = 0  # a command is done, and its reply never comes: the connection broke
    failover: int = 0  # another server takes over, which has not heard of the last write

    @cache
    def less(self, name: str) -> Self:
        return self._replace(**{name: getattr(self, name) - 1})
