"""A comparison's headline, and the cases in which there is none."""

from __future__ import annotations

from typing import Any

from app.lab.comparison.bars import bars
from app.lab.comparison.record import Result
from app.lab.comparison.remarks import Conclusion, finding
from tests.unit.comparison.comparisons import comparison, result

OVERSOLD: dict[str, Any] = {"verdict": "oversold", "oversold": 2_456}


def found(*results: Result) -> Conclusion:
    said = finding(bars(comparison(*results)))
    assert said
    return said


def test_the_slowest_that_kept_its_promise_beside_the_fastest() -> None:
    said = found(
        result("naive", 100, **OVERSOLD),
        result("watch", 20),
        result("lock:lease", 10),
        result("atomic", 150),
    )
    assert said.slow
    assert said.fast
    assert (said.slow.mode, said.times, said.fast.mode) == ("lock:lease", 15, "atomic")
    assert not said.free
    assert [bar.mode for bar in said.oversold] == ["naive"]
    assert said.units == 2_456


def test_a_single_one_stands_beside_the_reference() -> None:
    slower = found(result("naive", 100, **OVERSOLD), result("watch", 50))
    assert slower.slow
    assert (slower.slow.mode, slower.times, slower.free) == ("watch", 2, False)
    faster = found(result("naive", 100, **OVERSOLD), result("atomic", 150))
    assert faster.slow
    assert (faster.slow.mode, faster.times, faster.free) == ("naive", 1.5, True)


def test_an_exhibit_kept_nothing_even_if_nothing_was_seen() -> None:
    said = found(result("naive", 100), result("watch", 50), result("atomic", 200))
    assert said.fast
    assert said.slow
    assert (said.slow.mode, said.fast.mode) == ("watch", "atomic")
    assert said.wrong == []


def test_what_overlaps_is_not_told_apart() -> None:
    said = found(
        result("naive", 100, **OVERSOLD),
        result("naive", 100, 2),
        result("watch", 40),
        result("watch", 60, 2),
        result("atomic", 50),
        result("atomic", 70, 2),
    )
    assert (said.slow, said.times) == (None, None)
    assert said.units == 2_456, "what went wrong is said all the same"


def test_wrong_books_are_no_oversell() -> None:
    said = found(result("naive", 100, verdict="inconsistent"), result("watch", 50))
    assert ([bar.mode for bar in said.wrong], said.oversold) == (["naive"], [])


def test_where_nobody_has_judged_nothing_is_found() -> None:
    assert finding(bars(comparison())) is None
    assert finding(bars(comparison(result("naive", 100, verdict="")))) is None
    assert finding(bars(comparison(result("naive", 100, verdict="untouched")))) is None
