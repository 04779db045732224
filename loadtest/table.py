"""The comparison as tables for a terminal: min – median – max of the repeats."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from figures import Spread, spread
from rich import box
from rich.table import Table

from loadtest.columns import COST, SELL_OUT, Column
from loadtest.rows import NOOP, ComparisonRow, Yardstick, by_mode, label

FRAME = 3  # characters around a cell: a line, and a blank on each side


def cell(values: Spread | None, digits: int) -> str:
    """Write a spread in few characters: one number when all repeats agree, a dash for none."""
    if values is None:
        return "–"
    low, median, high = (f"{value:,.{digits}f}" for value in values)
    return median if low == high else f"{low} – {median} – {high}"


def line(rows: Sequence[ComparisonRow | Yardstick], columns: Sequence[Column]) -> list[str]:
    """Return one cell for each column; a figure that these rows do not have is a dash.

    A star marks the goodput of rows of which one was generator-bound.
    """
    bound = any(row.generator_bound for row in rows)
    return [
        cell(spread(getattr(row, column.name, None) for row in rows), column.digits)
        + (" *" if bound and column.name == "goodput" else "")
        for column in columns
    ]


@dataclass(frozen=True)
class Summary:
    """A table on its side: a terminal is narrow, so modes are columns and figures are lines."""

    title: str
    modes: list[str]
    lines: list[tuple[str, tuple[str, ...]]]


@dataclass(frozen=True)
class Turned:
    """One mode's column of the printed table; widths are in characters, with its frame."""

    mode: str
    cells: tuple[str, ...]

    @property
    def widest(self) -> int:
        return max(map(len, (self.mode, *self.cells))) + FRAME

    @property
    def narrowest(self) -> int:
        return max(len(word) for text in (self.mode, *self.cells) for word in text.split()) + FRAME


def summaries(rows: list[ComparisonRow], yardsticks: list[Yardstick]) -> list[Summary]:
    """Return the sell-out cells, then the cost cells with the no-op next to them."""
    modes: dict[str, Sequence[ComparisonRow | Yardstick]] = {
        label(mode, group[0].exhibit): group for mode, group in by_mode(rows).items()
    }
    return [
        summary("Sell-out: what became of the stock", modes, SELL_OUT),
        summary("Cost: what a sale takes", modes | {NOOP: yardsticks}, COST),
    ]


def summary(
    title: str, groups: dict[str, Sequence[ComparisonRow | Yardstick]], columns: Sequence[Column]
) -> Summary:
    turned = zip(*(line(group, columns) for group in groups.values()), strict=True)
    headings = [column.heading for column in columns]
    return Summary(title, list(groups), list(zip(headings, turned, strict=True)))


def printable(summary: Summary, width: int) -> list[Table]:
    """Split the summary for a terminal: each table has as many modes as fit with whole words."""
    groups: list[list[Turned]] = []
    room = 0
    for turned in columns_of(summary):
        if turned.narrowest > room:
            groups.append([])
            room = width - max(len(heading) for heading, _ in summary.lines) - FRAME - 1
        groups[-1].append(turned)
        room -= turned.narrowest
    tables = [table(summary, group, width) for group in groups]
    tables[0].title = summary.title
    tables[-1].caption = "min – median – max of the repeats; * generator-bound"
    return tables


def table(summary: Summary, group: Sequence[Turned], width: int) -> Table:
    headings = [heading for heading, _ in summary.lines]
    used = max(map(len, headings)) + FRAME + 1 + sum(turned.narrowest for turned in group)
    spare = max(0, width - used) // len(group)
    made = Table(title_justify="left")
    made.add_column("", no_wrap=True)
    for turned in group:
        wide = min(turned.widest, turned.narrowest + spare) - FRAME
        made.add_column(turned.mode, justify="right", overflow="fold", width=wide)
    for heading, *cells in zip(headings, *(turned.cells for turned in group), strict=True):
        made.add_row(heading, *cells)
    return made


def columns_of(summary: Summary) -> list[Turned]:
    cells = zip(*(cells for _, cells in summary.lines), strict=True)
    return [Turned(mode, own) for mode, own in zip(summary.modes, cells, strict=True)]


def empty_table(title: str, headings: Iterable[str], **options: Any) -> Table:
    """Return a table of figures without rows: the first column is for names."""
    made = Table(
        title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, **options
    )
    made.add_column("", no_wrap=True)
    for heading in headings:
        made.add_column(heading, justify="right", overflow="fold")  # no digit may be lost
    return made


def number(value: float, separator: str = ",") -> str:
    """Write no more digits than a run supports: 0.12, 12.3, 1,234, ∞."""
    if not math.isfinite(value):
        return "∞"
    return f"{value:{separator}.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"
