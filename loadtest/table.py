"""The comparison as tables for a terminal: min – median – max of the repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from loadtest.columns import COST, SELL_OUT, Column
from loadtest.figures import Spread, spread
from loadtest.rows import NOOP, Row, Yardstick, by_mode, label


def cell(values: Spread | None, digits: int) -> str:
    """A spread in few characters: one number when all repeats gave it, a dash for none."""
    if values is None:
        return "–"
    low, median, high = (f"{value:,.{digits}f}" for value in values)
    return median if low == high else f"{low} – {median} – {high}"


def line(rows: Sequence[Row | Yardstick], columns: Sequence[Column]) -> list[str]:
    """One cell a column; a figure that these rows do not have is a dash.

    A star marks the goodput of rows of which one was generator-bound.
    """
    bound = any(one.generator_bound for one in rows)
    return [
        cell(spread(getattr(one, column.name, None) for one in rows), column.digits)
        + (" *" if bound and column.name == "goodput" else "")
        for column in columns
    ]


@dataclass(frozen=True)
class Summary:
    """A table on its side: a terminal is narrow, so modes are columns and figures are lines."""

    title: str
    modes: list[str]
    lines: list[tuple[str, tuple[str, ...]]]


def summaries(rows: list[Row], yardsticks: list[Yardstick]) -> list[Summary]:
    """The sell-out cells, then the cost cells with the no-op beside them."""
    modes: dict[str, Sequence[Row | Yardstick]] = {
        label(mode, group[0].exhibit): group for mode, group in by_mode(rows).items()
    }
    return [
        summary("Sell-out: what became of the stock", modes, SELL_OUT),
        summary("Cost: what a sale takes", modes | {NOOP: yardsticks}, COST),
    ]


def summary(
    title: str, groups: dict[str, Sequence[Row | Yardstick]], columns: Sequence[Column]
) -> Summary:
    turned = zip(*(line(group, columns) for group in groups.values()), strict=True)
    headings = [column.heading for column in columns]
    return Summary(title, list(groups), list(zip(headings, turned, strict=True)))


def printable(summary: Summary) -> Table:
    """The summary for a terminal."""
    caption = "min – median – max of the repeats; * generator-bound"
    table = Table(title=summary.title, title_justify="left", caption=caption)
    table.add_column("", no_wrap=True)
    for mode in summary.modes:
        table.add_column(mode, justify="right", overflow="fold")
    for heading, cells in summary.lines:
        table.add_row(heading, *cells)
    return table
