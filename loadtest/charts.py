"""The comparison as charts, each with bars next to their figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from figures import Scale, Spread, spread
from figures.chart import axis, bar, dot, svg, upright, whiskers
from markupsafe import Markup

from loadtest.columns import COLUMNS, Column
from loadtest.rows import NOOP, ComparisonRow, Yardstick, by_mode, label

# px: a bar in its row, and the row of the axis
ROW, BAR, AXIS = 30, 18, 26
MIDDLE = ROW // 2

INKS = ("ink-1", "ink-2", "ink-3")  # of report.html


@dataclass(frozen=True)
class Chart:
    """One chart. `names` are the columns that it draws, in `inks`.

    `log` when slow and fast modes are far apart: then there are dots, as the length of a bar means
    nothing without a zero.
    """

    title: str
    names: tuple[str, ...]
    axis: str
    log: bool = False
    inks: tuple[str, ...] = INKS

    @property
    def columns(self) -> list[Column]:
        return [column for column in COLUMNS if column.name in self.names]


CHARTS = (
    Chart("Oversold units", ("oversold",), "In units", inks=("alarm",)),
    Chart("Goodput", ("goodput", "wrk_goodput"), "In sales per second"),
    Chart("How long a sale takes", ("p50_ms", "p99_ms"), "In ms, on a logarithmic scale", log=True),
    Chart("The price of safety", ("ratio_atomic", "ratio_noop", "wrk_ratio_noop"), "As a ratio"),
    Chart(
        "What the store is asked",
        ("attempts_per_sale", "round_trips_per_sale", "commands_per_sale"),
        "Per sale",
    ),
)


@dataclass(frozen=True)
class Bar:
    """One figure of one mode: its drawing, and the same in words; `median` a dash for none."""

    heading: str
    spread: Spread | None
    drawing: Markup
    median: str
    between: str


@dataclass(frozen=True)
class Drawn:
    """A chart's bars, mode by mode, and the axis that all of them share."""

    chart: Chart
    groups: dict[str, list[Bar]]
    axis: Markup


def draw(chart: Chart, rows: list[ComparisonRow], yardsticks: list[Yardstick]) -> Drawn | None:
    """Return a bar or dot for each mode and column: the median, with whiskers from min to max.

    None when no row has any of the figures (wrk absent, all ratios withheld).
    """
    groups: dict[str, Sequence[ComparisonRow | Yardstick]] = {
        label(mode, group[0].exhibit): group for mode, group in by_mode(rows).items()
    }
    if any(hasattr(yardstick, name) for yardstick in yardsticks for name in chart.names):
        groups[NOOP] = yardsticks
    spreads = {
        (name, column): spread(getattr(row, column.name, None) for row in group)
        for name, group in groups.items()
        for column in chart.columns
    }
    if not any(spreads.values()):
        return None
    scale = (Scale.log_of if chart.log else Scale.of)(spreads.values())
    inks = {
        column: ink
        # Strict: a column without an ink would be invisible.
        for column, ink in zip(chart.columns, chart.inks[: len(chart.columns)], strict=True)
        if any(spreads[name, column] for name in groups)
    }
    return Drawn(
        chart,
        {
            name: [
                draw_bar(column, spreads[name, column], scale, ink, chart.log)
                for column, ink in inks.items()
            ]
            for name in groups
        },
        draw_axis(scale),
    )


def draw_bar(column: Column, of: Spread | None, scale: Scale, ink: str, log: bool) -> Bar:
    drawing = draw_figure(scale, of, ink, log)
    if of is None:
        return Bar(column.heading, of, drawing, "–", "")
    return Bar(column.heading, of, drawing, column.number(of.median), of.between(column.number))


def draw_figure(scale: Scale, of: Spread | None, ink: str = "ink-1", log: bool = False) -> Markup:
    """Draw a row: the median as a bar (a dot on a `log` scale), whiskers from min to max."""
    pieces = [upright(scale, tick, "grid", ROW) for tick in scale.ticks()]
    if of and log:
        pieces += [whiskers(scale, of, MIDDLE), dot(scale, of.median, ink, MIDDLE)]
    elif of:
        pieces.append(bar(scale, of.median, ink, MIDDLE - BAR // 2, BAR))
        pieces.append(whiskers(scale, of, MIDDLE))
    return Markup(svg(ROW, *pieces))  # noqa: S704  our own figures


def draw_axis(scale: Scale) -> Markup:
    return Markup(svg(AXIS, axis(scale, scale.ticks(), AXIS - 8)))  # noqa: S704  our own figures
