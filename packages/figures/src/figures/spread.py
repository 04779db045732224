"""Smallest, median and largest: how every comparison of ours tells a figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import median
from typing import NamedTuple


class Spread(NamedTuple):
    """Of one figure over all repeats, in its own unit."""

    low: float
    median: float
    high: float

    def overlaps(self, other: Spread) -> bool:
        """Do they share a value? Then the repeats do not tell which of the two is larger."""
        return self.low <= other.high and other.low <= self.high

    def between(self, number: Callable[[float], str]) -> str:
        """From the smallest to the largest, as `number` writes them; "" when it writes one."""
        low, high = number(self.low), number(self.high)
        return "" if low == high else f"{low}–{high}"


def spread(values: Iterable[float | None]) -> Spread | None:
    """Of the values that are there; None when none is."""
    known = [value for value in values if value is not None]
    return Spread(min(known), median(known), max(known)) if known else None
