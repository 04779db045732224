"""Sentences that keep the figures from being misread."""

from __future__ import annotations

from collections.abc import Iterable

from figures.remarks import BOUND, BUSY, ERRORS

from loadtest.rows import NOOP, ComparisonRow, Yardstick, by_mode, label


def verdict(rows: list[ComparisonRow]) -> str:
    """Say in one sentence what happened to the stock in a mode's sell-out cells."""
    stocked = rows[0].stocked
    repeats = f"{len(rows)} repeats" if len(rows) > 1 else "1 repeat"
    if over := [row.oversold for row in rows if row.oversold]:
        return (
            f"oversold in {len(over)} of {repeats}: up to {max(over):,} customers too many "
            f"for {stocked:,} units."
        )
    if all(row.sold == row.stocked == row.orders for row in rows):
        return f"sold {stocked:,} of {stocked:,} in {repeats}, each with its order."
    leftovers = ", ".join(f"{row.sold} sold, {row.left} left" for row in rows)
    return f"did not oversell, and did not sell to the last unit either: {leftovers}."


def remarks(rows: list[ComparisonRow], yardsticks: list[Yardstick]) -> list[str]:
    """List faults and gaps of a run, one sentence each; empty after a clean run."""
    sentences = []
    for mode, group in by_mode(rows).items():
        name = label(mode, group[0].exhibit)
        if bound := repeats(group, "generator_bound"):
            sentences.append(BOUND.say(mode=name, repeats=bound))
        if unsettled := repeats(group, "settled", False):
            sentences.append(
                f"{name} had not settled 30 s after a cell of repeat {unsettled}: "
                "its counts there are not final."
            )
        if failed := sum(row.errors + row.cost_errors for row in group):
            sentences.append(ERRORS.say(mode=name, num=failed))
        if busy := sum(row.cost_busy for row in group):
            sentences.append(BUSY.say(mode=f"{name}, cost cells", num=busy))
    if bound := repeats(yardsticks, "generator_bound"):
        sentences.append(BOUND.say(mode=NOOP, repeats=bound))
    return sentences


def repeats(rows: Iterable[ComparisonRow | Yardstick], flag: str, value: bool = True) -> str:
    """Return the numbers of the repeats in which the flag had that value: "1, 3"."""
    return ", ".join(str(row.repeat) for row in rows if getattr(row, flag) is value)
