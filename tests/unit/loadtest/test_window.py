"""The arithmetic behind every figure: window, percentiles, ratios, the generator-bound rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loadtest.answers import ShopAnswer
from loadtest.window import LoadFigures, Sample, measure, ratio

SOLD = ShopAnswer("SOLD", attempts=1, round_trips=2, commands=7)
BUSY = ShopAnswer("BUSY", attempts=64, round_trips=129, commands=300)


def samples(*at: float, answer: ShopAnswer = SOLD, ms: float = 5.0) -> list[Sample]:
    return [Sample(moment, ms, answer) for moment in at]


def figures(goodput: float, cpu: float = 0.5) -> LoadFigures:
    return replace(measure([], 0, 1, cpu), goodput=goodput)


def test_the_window_takes_its_start_and_leaves_its_end() -> None:
    figures = measure(samples(9.99, 10.0, 12.5, 14.99, 15.0), start=10, end=15, cpu_seconds=1)
    assert figures.answers == {"SOLD": 3}
    assert figures.goodput == 3 / 5


def test_warm_up_and_aftermath_do_not_touch_the_percentiles() -> None:
    slow = samples(9, 16, ms=1000)
    figures = measure(slow + samples(11, 12), start=10, end=15, cpu_seconds=1)
    assert (figures.p50_ms, figures.p99_ms) == (5.0, 5.0)


def test_a_sale_pays_for_those_who_got_nothing() -> None:
    answers = samples(1, 2) + samples(3, answer=BUSY)
    figures = measure(answers, start=0, end=4, cpu_seconds=1)
    assert figures.attempts_per_sale == (1 + 1 + 64) / 2
    assert figures.round_trips_per_sale == (2 + 2 + 129) / 2
    assert figures.commands_per_sale == (7 + 7 + 300) / 2


def test_only_sold_answers_make_goodput_and_latency() -> None:
    answers = samples(1, ms=4) + samples(2, 3, answer=BUSY, ms=900)
    figures = measure(answers, start=0, end=4, cpu_seconds=1)
    assert figures.goodput == 0.25
    assert (figures.p50_ms, figures.p99_ms) == (4, 4)


def test_no_sale_no_figure() -> None:
    figures = measure(samples(1, answer=BUSY), start=0, end=4, cpu_seconds=1)
    assert figures.goodput == 0
    assert figures.p50_ms is None
    assert figures.p99_ms is None
    assert figures.attempts_per_sale is None
    assert figures.round_trips_per_sale is None
    assert figures.commands_per_sale is None


def test_the_yardstick_counts_noops() -> None:
    figures = measure(samples(1, 2, answer=ShopAnswer("NOOP")), 0, 4, 1, good="NOOP")
    assert figures.goodput == 0.5
    assert figures.p50_ms == 5


def test_percentiles_of_one_to_a_hundred() -> None:
    hundred = [Sample(1, ms, SOLD) for ms in range(100, 0, -1)]
    figures = measure(hundred, start=0, end=2, cpu_seconds=1)
    assert figures.p50_ms == 50
    assert figures.p99_ms == 99


@pytest.mark.parametrize(
    ("cpu_seconds", "bound"), [(0.5, False), (4.5, False), (4.6, True), (5.2, True)]
)
def test_above_nine_tenths_of_a_core_the_generator_is_the_limit(
    cpu_seconds: float, bound: bool
) -> None:
    figures = measure(samples(11), start=10, end=15, cpu_seconds=cpu_seconds)
    assert figures.cpu == pytest.approx(cpu_seconds / 5)
    assert figures.generator_bound is bound


def test_a_ratio_is_of_goodputs() -> None:
    assert ratio(figures(300), figures(1200)) == 0.25


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (figures(300, cpu=0.95), figures(1200)),
        (figures(300), figures(1200, cpu=0.95)),
        (figures(300), figures(0)),
        (figures(300), None),
    ],
    ids=["bound", "yardstick bound", "yardstick is zero", "no yardstick"],
)
def test_no_ratio_where_it_would_mislead(one: LoadFigures, other: LoadFigures | None) -> None:
    assert ratio(one, other) is None
