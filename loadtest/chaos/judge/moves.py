"""Moves: what a history says of the free units of one round, and of nothing else."""

from __future__ import annotations

from dataclasses import dataclass

NEVER = 1 << 80  # a moment that does not come; as a bound of free units: none


@dataclass(frozen=True, slots=True)
class Move:
    """At one moment from `since` to `until` (ns) the free units change by `delta`.

    Right after it they are from `low` to `high`: 7 to 7 for a buyer who was told that 7 are left. A
    look at the stock has `delta` 0. `after` is the place in the list of a move that comes before
    this one, -1 for none: a take comes after a look, and a give after the take of its units, which
    it alone gives back. One that is not `due` may as well not happen, and is never over; a give of
    a take is not due.
    """

    delta: int
    since: int
    until: int = NEVER
    low: int = 0
    high: int = NEVER
    after: int = -1
    due: bool = True
    ops: tuple[int, ...] = ()  # what of the history it stands for

    @property
    def exact(self) -> bool:
        """Does it say anything of the free units, beside that there are enough?"""
        return self.low > 0 or self.high < NEVER

    def fits(self, free: int) -> bool:
        """Can it happen while so many units are free?"""
        return self.low <= free + self.delta <= self.high
