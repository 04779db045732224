"""Smallest, median and largest, percentiles and ratios: how comparisons report a figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import ceil
from statistics import median
from typing import NamedTuple

# Above this share of one core the load generator may be the limit, not what it measures. It runs on
# one core, and spends the last tenth waiting for its own turn.
BOUND = 0.9


class Spread(NamedTuple):
    """Lowest, median and highest value of one figure, in its own unit."""

    low: float
    median: float
    high: float

    def overlaps(self, other: Spread) -> bool:
        """Say whether both share a value: then no repeat shows which one is larger."""
        return self.low <= other.high and other.low <= self.high

    def between(self, number: Callable[[float], str]) -> str:
        """Return "smallest to largest", as `number` writes them; "" when both are written alike."""
        low, high = number(self.low), number(self.high)
        return "" if low == high else f"{low}–{high}"


def spread(values: Iterable[float | None]) -> Spread | None:
    """Return the spread of all values that are not None; None without any."""
    known = [value for value in values if value is not None]
    return Spread(min(known), median(known), max(known)) if known else None


def rank(count: int, percent: float) -> int:
    """Return the percentile's position among `count` values, from 1."""
    return max(1, ceil(count * percent / 100))


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Return the smallest value that at least `percent` % of all, one at least, do not exceed.

    `ordered` ascends. Raises IndexError when it is empty.
    """
    return ordered[rank(len(ordered), percent) - 1]


def quotient(one: float, other: float) -> float | None:
    """Return `one` / `other`; None if there is nothing to divide by."""
    return one / other if other else None


def generator_bound(cpu: float | None) -> bool:
    """Say whether the load generator was the limit. `cpu`: its share of one core, or None."""
    return cpu is not None and cpu > BOUND
