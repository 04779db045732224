"""Verdicts and remarks: what a reader must know before the figures."""

from __future__ import annotations

from loadtest.remarks import remarks, verdict
from tests.unit.loadtest.real_comparison import Comparison


def test_an_oversold_mode_is_told_by_its_worst_repeat(real: Comparison) -> None:
    naive = real.rows[0::4]
    assert verdict(naive) == (
        "oversold in 3 of 3 repeats: up to 2,877 customers too many for 500 units."
    )
    naive[0].oversold = 0
    assert verdict(naive).startswith("oversold in 2 of 3 repeats")


def test_a_sound_mode_sold_to_the_last_unit(real: Comparison) -> None:
    watch = real.rows[1::4]
    assert verdict(watch) == "sold 500 of 500 in 3 repeats, each with its order."
    assert verdict(watch[:1]) == "sold 500 of 500 in 1 repeat, each with its order."


def test_units_left_over_or_lost_are_not_passed_over(real: Comparison) -> None:
    watch = real.rows[1::4]
    watch[2].sold, watch[2].left, watch[2].orders = 480, 20, 480
    assert "did not sell to the last unit" in verdict(watch)
    assert "480 sold, 20 left" in verdict(watch)


def test_a_sale_without_its_order_is_no_clean_verdict(real: Comparison) -> None:
    atomic = real.rows[3::4]
    atomic[0].orders = 499
    assert "each with its order" not in verdict(atomic)


def test_a_clean_run_needs_no_remark(real: Comparison) -> None:
    assert remarks(real.rows, real.yardsticks) == []


def test_what_would_mislead_is_said(real: Comparison) -> None:
    naive, watch, lock, atomic = real.rows[:4]
    naive.cost_errors, naive.errors = 2, 1
    watch.cost_busy = 1200
    lock.settled = False
    atomic.generator_bound = real.rows[11].generator_bound = True
    real.yardsticks[1].generator_bound = True
    assert remarks(real.rows, real.yardsticks) == [
        "naive (broken on purpose): 3 answers were errors.",
        "watch, cost cells: 1,200 times a buyer was sent away (BUSY).",
        "lock had not settled 30 s after a cell of repeat 1: its counts there are not final.",
        "atomic: the buyers' program itself was the limit in repeat 1, 3, so there is no ratio.",
        "no-op: the buyers' program itself was the limit in repeat 2, so there is no ratio.",
    ]
