"""The run as one HTML file, self-contained and without a script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from figures import Scale, Spread
from markupsafe import Markup

from loadtest.charts import draw_axis, draw_figure
from loadtest.report import render
from loadtest.table import number
from loadtest.throughput.growth import Point
from loadtest.throughput.rows import ThroughputRow
from loadtest.throughput.tables import (
    GROWTH_HEADINGS,
    GROWTH_READING,
    HEADINGS,
    READING,
    growth_line,
    line,
    tell,
)

# A table: its title, its columns, and each line's name and cells.
Lines = tuple[str, tuple[str, ...], list[tuple[str, list[str]]]]


@dataclass(frozen=True)
class Chart:
    """Bars, each with its name and its figure in words, over one axis."""

    title: str
    axis_title: str
    bars: list[tuple[str, Markup, str]]
    axis: Markup


def chart(title: str, axis_title: str, values: Iterable[tuple[str, Spread | None]]) -> Chart:
    pairs = list(values)
    scale = Scale.of(value for _, value in pairs)
    bars = [(name, draw_figure(scale, value), tell(value)) for name, value in pairs]
    return Chart(title, axis_title, bars, draw_axis(scale))


def http_page(
    rows: list[ThroughputRow],
    costs: dict[str, float],
    facts: dict[str, str],
    command: str,
    ended: datetime,
) -> str:
    """Render the report of `bench http`; `costs` are those of `profile`, or empty."""
    crowds = list(dict.fromkeys(row.connections for row in rows))
    charts = [
        chart(
            f"{crowd} connections",
            "Good answers a second ÷ the usual shop's sales",
            [(row.name, row.figure("per_s", "usual")) for row in rows if row.connections == crowd],
        )
        for crowd in crowds
    ]
    tables: list[Lines] = [
        (
            f"{crowd} connections: all figures",
            HEADINGS,
            [(row.name, line(row)) for row in rows if row.connections == crowd],
        )
        for crowd in crowds
    ]
    if costs:
        lines = [(name, [number(cost)]) for name, cost in costs.items()]
        tables.append(("Where the CPU of one sale goes", ("µs",), lines))
    title = "Purchases a second, compared with the usual shop"
    return _page(title, charts, tables, READING, facts, command, ended)


def growth_page(points: list[Point], facts: dict[str, str], command: str, ended: datetime) -> str:
    """Render the report of `bench growth`."""
    charts, tables = [], []
    for grows in dict.fromkeys(point.grows for point in points):
        of = [point for point in points if point.grows == grows]
        charts += [
            chart(
                f"More {grows}: sales",
                "Sales a second",
                [(f"{point.of:,}", point.per_s) for point in of],
            ),
            chart(
                f"More {grows}: the slowest hundredth",
                "p99, ms",
                [(f"{point.of:,}", point.p99_ms) for point in of],
            ),
        ]
        cells = [(f"{point.of:,}", growth_line(point)) for point in of]
        tables.append((f"{grows}: all figures", GROWTH_HEADINGS, cells))
    title = "What becomes of sales when there is more"
    return _page(title, charts, tables, GROWTH_READING, facts, command, ended)


def _page(
    title: str,
    charts: list[Chart],
    tables: Sequence[Lines],
    reading: Sequence[str],
    facts: dict[str, str],
    command: str,
    ended: datetime,
) -> str:
    return render(
        "throughput/report.html",
        title=title,
        charts=charts,
        tables=tables,
        reading=reading,
        facts=facts,
        command=command,
        ended=ended,
    )
