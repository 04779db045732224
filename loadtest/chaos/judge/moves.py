"""Moves: the statements of a history about the free units of one round."""

from __future__ import annotations

from dataclasses import dataclass

NEVER = 1 << 80  # a moment that does not come; as a bound of free units: none


@dataclass(frozen=True, slots=True)
class Move:
    """At one moment from `since` to `until` (ns) the free units change by `delta`.

    Right after it they are from `low` to `high`: 7 to 7 if the answer says that 7 are left. A look
    at the stock has `delta` 0. `after` is the index of a move that comes before this one, -1 for
    none: a take comes after a look, and a give after the take whose units it gives back. A move
    that is not `due` may never happen, and is never over; the give of a take is not due.
    """

    delta: int
    since: int
    until: int = NEVER
    low: int = 0
    high: int = NEVER
    after: int = -1
    due: bool = True
    ops: tuple[int, ...] = ()  # the history's ops that it stands for

    @property
    def exact(self) -> bool:
        """Return whether it says more about the free units than that there are enough."""
        return self.low > 0 or self.high < NEVER

    def fits(self, free: int) -> bool:
        """Return whether it can happen while so many units are free."""
        return self.low <= free + self.delta <= self.high
