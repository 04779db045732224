"""Ratios within a repeat, modes without a ratio, and the order of the bars."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from figures import Scale, Spread
from figures.scale import AIR

from app.lab.comparison.bars import alike, bars, scale
from app.lab.comparison.record import Comparison
from app.lab.comparison.remarks import remarks
from app.lab.stampede.record import How
from tests.unit.comparison.comparisons import comparison, result


def test_ratios_are_taken_within_a_repeat_and_sorted() -> None:
    """The machine was twice as fast in the second repeat: no ratio may show it."""
    made = bars(
        comparison(
            result("naive", 100),
            result("watch", 50),
            result("atomic", 300),
            result("naive", 200, 2),
            result("watch", 80, 2),
            result("atomic", 600, 2),
        )
    )
    assert [bar.mode for bar in made] == ["atomic", "naive", "watch", "lock:lease"]
    spreads = [bar.ratio for bar in made]
    assert spreads == [Spread(3, 3, 3), Spread(1, 1, 1), Spread(0.4, 0.45, 0.5), None]
    assert scale(made) == Scale(0, 3 * AIR)
    assert [bar.reference for bar in made] == [False, True, False, False]
    assert [bar.exhibit for bar in made] == [False, True, False, False]


@pytest.mark.parametrize(
    "unfit",
    [
        {"how": How.STOPPED},
        {"how": How.CRASHED, "verdict": ""},
        {"how": How.FAILED},
        {"generator_cpu": 0.95},
        {"goodput": None},
        {"goodput": 0.0},
    ],
)
def test_what_is_not_fit_has_no_ratio_nor_gives_one(unfit: dict[str, Any]) -> None:
    naive, watch = result("naive", 100), result("watch", 50)
    [_, bar, *_] = bars(comparison(naive, replace(watch, **unfit)))
    assert (bar.mode, bar.ratio) == ("watch", None)
    assert bar.typical is bar.runs[0], "its bar still opens a run"
    made = bars(comparison(replace(naive, **unfit), watch))
    assert [bar.ratio for bar in made] == [None] * 4
    assert scale(made) == Scale(0, AIR)


def test_a_bar_opens_the_run_that_is_nearest_to_its_median() -> None:
    pairs = [(1, 30), (2, 50), (3, 90)]
    seen = [each for n, g in pairs for each in (result("naive", 100, n), result("watch", g, n))]
    [_, bar, *_] = bars(comparison(*seen))
    assert bar.ratio == Spread(0.3, 0.5, 0.9)
    assert bar.typical
    assert bar.typical.result.repeat == 2


def test_every_oversell_counts_not_the_median_one() -> None:
    seen = [
        result("naive", 100),
        result("naive", 100, 2, verdict="oversold", oversold=7),
        result("naive", 100, 3, verdict="inconsistent"),
        result("watch", 100, verdict="", how=How.CRASHED),
    ]
    naive, watch, *_ = bars(comparison(*seen))
    assert (len(naive.wrong), naive.oversold, naive.judged) == (2, [7], 3)
    assert (watch.wrong, watch.judged) == ([], 0), "nobody came to ask"


def test_every_second_repeat_runs_backwards() -> None:
    plan = comparison(modes=["a", "b", "c"], repeats=3).plan()
    assert "".join(mode for mode, _ in plan) == "abccbaabc"
    assert [repeat for _, repeat in plan] == [1] * 3 + [2] * 3 + [3] * 3


def test_a_record_comes_back_as_it_was() -> None:
    whole = comparison(result("naive", 100))
    assert Comparison.decode(whole.encode()) == whole


def test_it_says_what_it_cannot_tell() -> None:
    seen = comparison(
        result("naive", 100, verdict="oversold", oversold=9),
        result("naive", 100, 2),
        result("watch", 90, busy=1, lasted_s=0.4),
        result("watch", 110, 2, errors=3),
        result("atomic", 900, generator_cpu=0.97),
        buyers=64,
    )
    made = bars(seen)
    assert {(one.mode, other.mode) for one, other in alike(made)} == {("naive", "watch")}
    said = "\n".join(remarks(seen, made))
    assert "atomic: the buyers' program itself was the limit in repeat 1" in said
    assert "naive (broken on purpose) and watch overlap" in said
    assert "naive is broken on purpose: " in said
    assert "watch: a sale was over after 0.4 s" in said
    assert "watch: 3 answers were errors." in said
    assert "watch: 1 time a buyer was sent away (BUSY)." in said
    assert "64 buyers for the shop's 32 threads" in said
    assert "atomic: Think time does nothing here" in said
    assert "measured once" not in said
    once = comparison(repeats=1)
    assert "measured once" in "\n".join(remarks(once, bars(once)))
    gone = comparison(modes=["a_mode_of_long_ago"], exhibits=[])
    assert remarks(gone, bars(gone)) == []
