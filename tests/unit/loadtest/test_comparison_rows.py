"""A row is put together from the audit and the answers of both cells."""

from __future__ import annotations

from dataclasses import replace

from loadtest.lab import Audit
from loadtest.rows import Cells, ComparisonRow, build_row, build_yardstick, by_mode, select_for_wrk
from loadtest.window import LoadFigures

AUDIT: Audit = {
    "stocked": 500,
    "sold": 612,
    "oversold": 112,
    "left": 0,
    "orders": 612,
    "settled": True,
}


def cell(goodput: float, cpu: float = 0.4, **answers: int) -> LoadFigures:
    return LoadFigures(answers, goodput, 5.0, 9.0, 1.5, 4.0, 6.0, cpu)


def a_row(mode: str, goodput: float, repeat: int = 1, bound: bool = False) -> ComparisonRow:
    cells = Cells(AUDIT, cell(0), cell(goodput, cpu=1.0 if bound else 0.4), settled=True)
    return build_row(mode, False, repeat, cells, None, cell(5000))


def test_units_come_from_the_audit_and_answers_from_the_buyers() -> None:
    sell_out = cell(90, SOLD=600, SOLD_OUT=40, BUSY=3, ERROR=2)
    cells = Cells(AUDIT, sell_out, cell(300, SOLD=1500, BUSY=8, ERROR=1), settled=True)
    one = build_row("naive", True, 2, cells, atomic=cell(1200), noop=cell(3000))
    assert (one.stocked, one.sold, one.oversold, one.left, one.orders) == (500, 612, 112, 0, 612)
    assert (one.sold_out, one.busy, one.errors) == (40, 3, 2)
    assert (one.goodput, one.cost_busy, one.cost_errors) == (300, 8, 1)
    assert (one.ratio_atomic, one.ratio_noop) == (0.25, 0.1)
    assert (one.mode, one.exhibit, one.repeat, one.settled) == ("naive", True, 2, True)


def test_what_the_audit_does_not_say_is_missing_and_not_zero() -> None:
    one = build_row("sql", False, 1, Cells({}, cell(1), cell(1), False), None, cell(3000))
    assert (one.stocked, one.sold, one.oversold, one.left, one.orders) == (None,) * 5
    assert one.ratio_atomic is None
    assert not one.settled


def test_a_generator_bound_row_is_marked_and_gets_no_ratio() -> None:
    cells = Cells(AUDIT, cell(0), cell(2900, cpu=0.93), settled=True)
    one = build_row("atomic", False, 1, cells, atomic=cells.cost, noop=cell(3000))
    assert one.generator_bound
    assert (one.ratio_atomic, one.ratio_noop) == (None, None)


def test_a_yardstick_counts_only_what_failed() -> None:
    one = build_yardstick(3, cell(3000, cpu=0.91, NOOP=15000, ERROR=4))
    assert (one.repeat, one.goodput, one.errors, one.generator_bound) == (3, 3000, 4, True)


def test_wrk_looks_at_the_two_fastest_and_at_generator_bound_rows() -> None:
    rows = [a_row("naive", 900), a_row("watch", 400), a_row("atomic", 1400)]
    assert [one.mode for one in select_for_wrk(rows)] == ["naive", "atomic"]
    rows[1] = replace(rows[1], generator_bound=True)
    assert [one.mode for one in select_for_wrk(rows)] == ["naive", "watch", "atomic"]
    assert [one.mode for one in select_for_wrk(rows[:1])] == ["naive"]


def test_rows_are_grouped_by_mode_and_ordered_by_repeat() -> None:
    rows = [a_row("watch", 1, 2), a_row("atomic", 2, 1), a_row("watch", 3, 1)]
    groups = by_mode(rows)
    assert {mode: [one.repeat for one in group] for mode, group in groups.items()} == {
        "atomic": [1],
        "watch": [1, 2],
    }
