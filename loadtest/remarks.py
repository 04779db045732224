"""Sentences without which the figures would be misread."""

from __future__ import annotations

from collections.abc import Iterable

from figures.remarks import BOUND, BUSY, ERRORS

from loadtest.rows import NOOP, ComparisonRow, Yardstick, by_mode, label


def verdict(rows: list[ComparisonRow]) -> str:
    """What became of the stock in a mode's sell-out cells, in one sentence."""
    stocked = rows[0].stocked
    repeats = f"{len(rows)} repeats" if len(rows) > 1 else "1 repeat"
    if over := [one.oversold for one in rows if one.oversold]:
        return (
            f"oversold in {len(over)} of {repeats}: up to {max(over):,} customers too many "
            f"for {stocked:,} units."
        )
    if all(one.sold == one.stocked == one.orders for one in rows):
        return f"sold {stocked:,} of {stocked:,} in {repeats}, each with its order."
    kept = ", ".join(f"{one.sold} sold, {one.left} left" for one in rows)
    return f"did not oversell, and did not sell to the last unit either: {kept}."


def remarks(rows: list[ComparisonRow], yardsticks: list[Yardstick]) -> list[str]:
    """What went wrong or is missing, one sentence each; empty after a clean run."""
    said = []
    for mode, group in by_mode(rows).items():
        name = label(mode, group[0].exhibit)
        if bound := repeats(group, "generator_bound"):
            said.append(BOUND.say(mode=name, repeats=bound))
        if unsettled := repeats(group, "settled", False):
            said.append(
                f"{name} had not settled 30 s after a cell of repeat {unsettled}: "
                "its counts there are not final."
            )
        if failed := sum(one.errors + one.cost_errors for one in group):
            said.append(ERRORS.say(mode=name, num=failed))
        if busy := sum(one.cost_busy for one in group):
            said.append(BUSY.say(mode=f"{name}, cost cells", num=busy))
    if bound := repeats(yardsticks, "generator_bound"):
        said.append(BOUND.say(mode=NOOP, repeats=bound))
    return said


def repeats(rows: Iterable[ComparisonRow | Yardstick], flag: str, value: bool = True) -> str:
    """The numbers of the repeats in which the flag had that value: "1, 3"."""
    return ", ".join(str(one.repeat) for one in rows if getattr(one, flag) is value)
