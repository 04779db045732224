"""Results that the bench computes from its workers' counts."""

from __future__ import annotations

import io
import math
import time
from dataclasses import replace

import pytest
from figures import Spread
from rich.console import Console

from loadtest.bench.cell import Count, Shape, Window
from loadtest.bench.contender import Attempt
from loadtest.bench.results import LockFigures, LockResult, figures
from loadtest.bench.rows import ROWS, LockRow
from loadtest.bench.run import LocksPlan, rotated, row
from loadtest.bench.tables import WIDE, cell, number, table
from loadtest.bench.worker import contend

ONE = Count(in_window=[10, 20], sold=32, waits=[0.001] * 98, round_trips=128, commands=224)
OTHER = Count(in_window=[40, 30], sold=70, waits=[0.002, 0.5], round_trips=280, commands=490)
FIGURES = LockFigures(100.0, 1.0, 2.0, 3.0, 1.5, 4.0, 7.0, 0)


def test_figures_of_one_cell() -> None:
    """102 sold and 95 taken: 7 units were sold twice. Two of 102 were late, and not speed."""
    assert figures([ONE, OTHER], taken=95, seconds=2) == LockFigures(
        sales_per_s=50.0,
        p50_ms=1.0,
        p99_ms=2.0,
        longest_ms=500.0,
        fairness=4.0,
        round_trips_per_sale=4.0,
        commands_per_sale=7.0,
        oversold=7,
    )


def test_who_sold_nothing_makes_it_infinitely_unfair() -> None:
    starved = replace(ONE, in_window=[10, 0])
    assert figures([starved], taken=32, seconds=1).fairness == math.inf


def test_nothing_sold_divides_nothing() -> None:
    stuck = Count(in_window=[0, 0], sold=0, waits=[15.0, 15.0], round_trips=90, commands=90)
    found = figures([stuck], taken=0, seconds=1)
    assert (found.sales_per_s, found.longest_ms, found.oversold) == (0.0, 15_000.0, 0)
    assert found.round_trips_per_sale is None
    assert found.commands_per_sale is None


def result(mine: list[LockFigures], base: list[LockFigures]) -> LockResult:
    return LockResult(ROWS["lease"], Shape(2, 4), mine, base)


def test_a_ratio_is_against_the_same_round() -> None:
    """The machine was half as fast in repeat 2: a ratio of medians would hide that."""
    mine = [replace(FIGURES, sales_per_s=speed) for speed in (150.0, 75.0, 200.0)]
    base = [replace(FIGURES, sales_per_s=speed) for speed in (100.0, 50.0, 100.0)]
    assert result(mine, base).ratio("sales_per_s") == Spread(1.5, 1.5, 2.0)
    nothing = [replace(FIGURES, sales_per_s=0.0)] * 3
    assert result(mine, nothing).ratio("sales_per_s") is None


def test_one_row_of_the_document() -> None:
    mine = [
        replace(FIGURES, fairness=math.inf, oversold=5),
        replace(FIGURES, fairness=math.inf, p99_ms=1.0),
        FIGURES,
    ]
    assert row(result(mine, [FIGURES] * 3)) == {
        "name": "lease",
        "processes": 2,
        "threads": 4,
        "sales_per_s": 100.0,
        "ratio": 1.0,
        "ratio_min": 1.0,
        "ratio_max": 1.0,
        "p50_ms": 1.0,
        "p99_ms": 2.0,
        "p99_ratio": 1.0,
        "longest_ms": 3.0,
        "fairness": None,
        "fairness_max": None,
        "round_trips_per_sale": 4.0,
        "commands_per_sale": 7.0,
        "oversold": 5,  # of all repeats: the median would be 0
    }


def test_the_locks_take_turns_and_none_always_comes_first() -> None:
    rows = [ROWS[name] for name in ("lease", "redis-py", "sherlock")]
    plan = LocksPlan(rows, rows[0], [Shape(1, 1), Shape(2, 4)], seconds=1, repeats=2)
    assert [(str(shape), repeat, one.name) for shape, repeat, one in plan.cells][:6] == [
        ("1x1", 0, "lease"),
        ("1x1", 0, "redis-py"),
        ("1x1", 0, "sherlock"),
        ("1x1", 1, "redis-py"),
        ("1x1", 1, "sherlock"),
        ("1x1", 1, "lease"),
    ]
    assert len(plan.cells) == 12
    assert {rotated(rows, turn)[0].name for turn in range(3)} == {one.name for one in rows}


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.00"), (0.126, "0.13"), (9.996, "10.0"), (12.34, "12.3"), (1234.5, "1234")],
)
def test_numbers_for_people(value: float, text: str) -> None:
    assert number(value) == text


def test_cells_for_people() -> None:
    assert cell(None, wide=True) == "–"
    assert cell(Spread(1.0, 2.0, math.inf), wide=True) == "2.00\n[dim]1.00–∞[/]"
    assert cell(Spread(1.0, 2.0, math.inf), wide=False) == "2.00"
    assert cell(Spread(4.0, 4.0, 4.001), wide=True) == "4.00"


def test_every_row_says_how_it_is_made() -> None:
    def complete(one: LockRow) -> bool:
        return bool(one.settings) and bool(one.module) == bool(one.package)

    assert [name for name, one in ROWS.items() if name != one.name or not complete(one)] == []


class Slow:
    """A contender whose turn takes longer than the window."""

    def sell(self) -> Attempt:
        time.sleep(0.1)
        return Attempt(waited=0.1, sold=True)


def test_a_turn_that_ends_after_the_window_is_a_wait_and_a_sale_but_no_speed() -> None:
    now = time.monotonic()
    tally = contend(Slow(), Window(now, now, now + 0.05))
    assert (tally.in_window, tally.sold, tally.waits) == (0, 1, [0.1])


def test_a_turn_that_ends_before_the_window_warms_up() -> None:
    now = time.monotonic()
    tally = contend(Slow(), Window(now, now + 0.15, now + 0.25))
    assert (tally.in_window, tally.sold, tally.waits) == (1, 3, [0.1, 0.1])


@pytest.mark.parametrize("width", [80, WIDE])
def test_a_table_loses_no_digit(width: int) -> None:
    """Each figure is in one piece, at the two widths that the table is made for."""
    repeats = [
        LockFigures(low, low / 100, low / 10, low, low / 7, low / 100, low / 90, int(low))
        for low in (1234.0, 2345.0, 3456.0)
    ]
    base = ROWS["python-redis-lock"]
    plan = LocksPlan([base], base, [Shape(64, 128)], seconds=2, repeats=3)
    made = table(plan, plan.shapes[0], [LockResult(base, plan.shapes[0], repeats, repeats)], width)
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(made)
    text = console.export_text()
    assert "…" not in text
    for figure in ("python-redis-lock", " 2345 ", " 23.4 ", " 7035"):
        assert figure in text
    for both in ("1234–3456", "12.3–34.6", "176–494"):
        assert (both in text) == (width == WIDE)
