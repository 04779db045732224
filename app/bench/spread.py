"""Smallest, median and largest: how every comparison of ours tells a figure. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import NamedTuple


class Spread(NamedTuple):
    low: float
    median: float
    high: float


def spread(values: Iterable[float | None]) -> Spread | None:
    """Of the values that are there; None when none is."""
    there = [value for value in values if value is not None]
    return Spread(min(there), median(there), max(there)) if there else None


def quotient(one: float, other: float) -> float | None:
    return one / other if other else None
