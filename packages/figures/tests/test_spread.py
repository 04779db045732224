"""Spreads, percentiles and ratios: the arithmetic of every comparison."""

from __future__ import annotations

import math

import pytest
from figures import BOUND, Spread, generator_bound, percentile, quotient, rank, spread


def test_a_spread_is_of_what_is_there() -> None:
    assert spread([3.0, None, 1.0, 2.0]) == Spread(1.0, 2.0, 3.0)
    assert spread([4, 1]) == Spread(1, 2.5, 4)
    assert spread([1.0, math.inf, math.inf]) == Spread(1.0, math.inf, math.inf)
    assert spread([None, None]) is None
    assert spread([]) is None


def test_from_the_smallest_to_the_largest_as_far_as_it_shows() -> None:
    assert Spread(1.0, 2.0, 3.0).between("{:.1f}".format) == "1.0–3.0"
    assert Spread(1.0, 1.0, 1.04).between("{:.1f}".format) == ""


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [((1, 2, 3), (3, 4, 5), True), ((1, 2, 3), (4, 5, 6), False), ((1, 5, 9), (4, 5, 6), True)],
)
def test_spreads_overlap_where_they_share_a_value(
    one: tuple[float, float, float], other: tuple[float, float, float], overlap: bool
) -> None:
    assert Spread(*one).overlaps(Spread(*other)) is overlap
    assert Spread(*other).overlaps(Spread(*one)) is overlap


@pytest.mark.parametrize(("percent", "value"), [(50, 50), (99, 99), (99.1, 100), (0.1, 1)])
def test_percentiles_by_nearest_rank(percent: float, value: int) -> None:
    assert percentile(range(1, 101), percent) == value


def test_a_percentile_of_one_is_that_one() -> None:
    assert percentile([7.0], 99) == 7.0
    assert rank(1, 0.1) == 1


def test_nothing_divides_nothing() -> None:
    assert quotient(3, 2) == 1.5
    assert quotient(3, 0) is None


def test_above_nine_tenths_of_a_core_the_generator_is_the_limit() -> None:
    assert [generator_bound(cpu) for cpu in (None, BOUND, 0.91)] == [False, False, True]
