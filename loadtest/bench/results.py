"""Figures of one cell, and their spread over several repeats. No I/O."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from figures import Spread, percentile, quotient, spread

from loadtest.bench.cell import Count, Shape
from loadtest.bench.rows import LockRow


@dataclass(frozen=True)
class LockFigures:
    """One lock, one shape, one repeat. None: no sale to divide by, or unknown."""

    sales_per_s: float
    p50_ms: float  # of the waits for the lock: from asking to having it, or giving up
    p99_ms: float
    longest_ms: float
    fairness: float  # most ÷ fewest sales of one contender; infinite when one sold nothing
    round_trips_per_sale: float | None
    commands_per_sale: float | None
    oversold: int  # units sold that were never taken from the stock


def figures(
    counts: Sequence[Count], taken: int, seconds: float, counted: bool = True
) -> LockFigures:
    """Return a cell's figures; `taken` units are gone from the stock, in `seconds`.

    Not `counted`: the commands counted are only a part of those that the lock sent.
    """
    each = [sales for count in counts for sales in count.in_window]
    waits = sorted(wait * 1000 for count in counts for wait in count.waits)
    sold = sum(count.sold for count in counts)
    shared = sold if counted else 0
    return LockFigures(
        sales_per_s=sum(each) / seconds,
        p50_ms=percentile(waits, 50),
        p99_ms=percentile(waits, 99),
        longest_ms=waits[-1],
        fairness=max(each) / min(each) if min(each) else math.inf,
        round_trips_per_sale=quotient(sum(count.round_trips for count in counts), shared),
        commands_per_sale=quotient(sum(count.commands for count in counts), shared),
        oversold=sold - taken,
    )


@dataclass(frozen=True)
class LockResult:
    """One row of the table: a lock in one shape, its repeats and the base's in the same repeats."""

    row: LockRow
    shape: Shape
    repeats: list[LockFigures]
    base: list[LockFigures]

    def spread(self, name: str) -> Spread | None:
        """Return the spread of one figure over the repeats."""
        return spread(getattr(repeat, name) for repeat in self.repeats)

    def ratio(self, name: str) -> Spread | None:
        """Return the spread of one figure ÷ the base's in the same repeat."""
        return spread(
            quotient(getattr(mine, name), getattr(theirs, name))
            for mine, theirs in zip(self.repeats, self.base, strict=True)
        )

    @property
    def oversold(self) -> int:
        """The units oversold in all repeats: a median would hide a single repeat that oversold."""
        return sum(repeat.oversold for repeat in self.repeats)
