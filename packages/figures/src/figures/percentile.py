"""Percentiles by nearest rank: one of the values themselves, as HdrHistogram and wrk have it."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil


def rank(count: int, percent: float) -> int:
    """Which of `count` ordered values it is, from 1."""
    return max(1, ceil(count * percent / 100))


def percentile(ordered: Sequence[float], percent: float) -> float:
    """The smallest value that at least `percent` % of all, one at least, do not exceed.

    `ordered` ascends. Raises IndexError when it is empty.
    """
    return ordered[rank(len(ordered), percent) - 1]
