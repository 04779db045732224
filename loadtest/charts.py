"""The comparison as charts: what each shows, and its figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
from figures import spread

from loadtest.columns import COLUMNS, Column
from loadtest.rows import NOOP, Row, Yardstick, by_mode

# Told apart by lightness too, for those who do not see the colours and for printers.
INKS = ("#1f6f54", "#d9a05b", "#6b4e9b")
ALARM = "#a3341c"

# px: a bar, the gap between modes, legend and axis together
BAR, GAP, FRAME = 26, 12, 110


@dataclass(frozen=True)
class Chart:
    """`names` are the columns it draws, in `inks`.

    `log` when slow and fast modes lie far apart: then there are dots, as the length of a bar
    means nothing without a zero.
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
    Chart("Oversold units", ("oversold",), "units", inks=(ALARM,)),
    Chart("Goodput", ("goodput", "wrk_goodput"), "sales per second"),
    Chart("How long a sale takes", ("p50_ms", "p99_ms"), "ms, on a logarithmic scale", log=True),
    Chart("The price of safety", ("ratio_atomic", "ratio_noop", "wrk_ratio_noop"), "ratio"),
    Chart(
        "What the store is asked",
        ("attempts_per_sale", "round_trips_per_sale", "commands_per_sale"),
        "per sale",
    ),
)


def draw(chart: Chart, rows: list[Row], yardsticks: list[Yardstick]) -> go.Figure | None:
    """One bar or dot a mode and column: the median, with whiskers from min to max.

    None when no row has any of the figures (wrk absent, all ratios withheld).
    """
    groups: dict[str, Sequence[Row | Yardstick]] = {
        head(mode, group): group for mode, group in by_mode(rows).items()
    }
    if any(hasattr(one, name) for one in yardsticks for name in chart.names):
        groups[NOOP] = yardsticks
    traces = [
        trace(column, groups, ink, dots=chart.log)
        for column, ink in zip(chart.columns, chart.inks, strict=False)
        if any(values(group, column.name) for group in groups.values())
    ]
    if not traces:
        return None
    figure = go.Figure(traces)
    bars = 1 if chart.log else len(traces)
    figure.update_layout(
        template="simple_white",
        height=FRAME + (BAR * bars + GAP) * len(groups),
        margin={"l": 8, "r": 16, "t": 36, "b": 44},
        font={"family": "system-ui, sans-serif", "size": 13},
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        showlegend=True,
        bargap=0.25,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )
    if chart.log:
        figure.update_xaxes(type="log", dtick="D2")
    else:
        figure.update_xaxes(rangemode="tozero")
    figure.update_xaxes(title=chart.axis, showgrid=True, tickformat=",")
    figure.update_yaxes(autorange="reversed", automargin=True, showgrid=chart.log)
    return figure


def trace(
    column: Column, groups: dict[str, Sequence[Row | Yardstick]], ink: str, dots: bool
) -> go.Bar | go.Scatter:
    spreads = [spread(values(group, column.name)) for group in groups.values()]
    kind, look = (
        (go.Scatter, {"mode": "markers", "marker": {"color": ink, "size": 11}})
        if dots
        else (go.Bar, {"orientation": "h", "marker": {"color": ink}})
    )
    return kind(
        name=column.heading,
        y=list(groups),
        x=[one and one.median for one in spreads],
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [one and one.high - one.median for one in spreads],
            "arrayminus": [one and one.median - one.low for one in spreads],
            "thickness": 1.5,
            "color": ink if dots else "#1c1f1d",
        },
        hovertemplate="%{y}: %{x:,." + str(column.digits) + "f}",
        **look,
    )


def values(rows: Iterable[Row | Yardstick], name: str) -> list[Any]:
    """The figures of that name that are there."""
    found = [getattr(one, name, None) for one in rows]
    return [value for value in found if value is not None]


def head(mode: str, rows: list[Row]) -> str:
    """The label in two lines: a phone has no room for one."""
    return f"{mode}<br><i>broken on purpose</i>" if rows[0].exhibit else mode
