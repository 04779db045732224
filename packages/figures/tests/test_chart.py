"""Positions of bars, dots, whiskers and ticks."""

from __future__ import annotations

import re

import pytest
from figures import Scale, Spread, chart, spread

TO_TEN = Scale(0, 10)
TEN_TO_THOUSAND = Scale(10, 1000, log=True)


def test_a_bar_begins_at_zero_and_its_whiskers_end_at_the_extremes() -> None:
    of = Spread(2.0, 4.0, 5.0)
    drawn = chart.svg(
        30, chart.bar(TO_TEN, of.median, "ours", 6, 18), chart.whiskers(TO_TEN, of, 15)
    )
    assert drawn.startswith('<svg width="100%" height="30" aria-hidden="true"><rect class="ours"')
    assert re.findall(r'\bwidth="([\d.]+)%"', drawn) == ["100", "40.00"]
    assert set(re.findall(r'x[12]="([\d.]+)%"', drawn)) == {"20.00", "50.00"}
    assert chart.whiskers(TO_TEN, Spread(3, 3, 3), 15) == ""


def test_a_dot_stands_where_a_logarithm_has_it() -> None:
    assert 'cx="50.00%"' in chart.dot(TEN_TO_THOUSAND, 100, "ours", 15)


@pytest.mark.parametrize(
    ("highest", "ticks"),
    [
        (2877, [0, 1000, 2000]),
        (6.97, [0, 2, 4, 6]),
        (0.6, [0, 0.2, 0.4, 0.6]),
        (0, [0, 0.5, 1]),
    ],
)
def test_round_numbers_reach_the_longest_bar(highest: float, ticks: list[float]) -> None:
    scale = Scale.of([spread([highest / 3, highest]), None])
    assert scale.low == 0
    assert highest < scale.high
    assert scale.ticks() == pytest.approx(ticks)


def test_a_scale_reaches_at_least_so_far() -> None:
    assert Scale.of([], least=1.0).high > 1


@pytest.mark.parametrize(
    ("lowest", "highest", "ticks"),
    [
        (3.1, 47.0, [2, 5, 10, 20, 50]),
        (0.2, 0.9, [0.2, 0.5, 1]),
        (5, 5, [5, 10]),
        (100, 1000, [100, 200, 500, 1000, 2000]),
    ],
)
def test_a_logarithmic_scale_goes_from_one_round_number_to_another(
    lowest: float, highest: float, ticks: list[float]
) -> None:
    scale = Scale.log_of([spread([lowest, highest])])
    assert scale.ticks() == pytest.approx(ticks)
    assert scale.at(ticks[0]) == pytest.approx(0)
    assert scale.at(ticks[-1]) == pytest.approx(100)


def test_a_long_logarithmic_scale_has_only_powers_of_ten() -> None:
    assert Scale(0.2, 5000, log=True).ticks() == pytest.approx([1, 10, 100, 1000])


def test_ticks_are_written_as_people_do() -> None:
    written = re.findall(">([^<>]+)</text>", chart.axis(TO_TEN, [0, 0.1 + 0.2, 2000000], 18))
    assert written == ["0", "0.3", "2,000,000"]
