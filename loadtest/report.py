"""The comparison as one JSON document for programs, and as one HTML file: charts and tables.

The file is self-contained, and without a script: it can be mailed, archived and opened offline.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from figures import BOUND
from jinja2 import Environment, PackageLoader, StrictUndefined

from loadtest.charts import CHARTS, draw
from loadtest.columns import COLUMNS
from loadtest.generator import QUIET, SELL_OUT_LIMIT, WARM_UP
from loadtest.machine import Machine
from loadtest.remarks import remarks, verdict
from loadtest.rows import ComparisonRow, Yardstick, by_mode, label
from loadtest.run import Options
from loadtest.table import line, summaries

DIGITS = 4  # beyond them is noise

Rounded = TypeVar("Rounded", ComparisonRow, Yardstick)


@dataclass(frozen=True)
class ComparisonDocument:
    """`rows` are the modes', `noop` the yardstick's. None: missing, or not comparable."""

    ended_at: str  # ISO 8601 in UTC
    machine: Machine
    options: Options
    rows: list[ComparisonRow]
    noop: list[Yardstick]


def document(
    machine: Machine,
    options: Options,
    rows: list[ComparisonRow],
    yardsticks: list[Yardstick],
    ended: datetime,
) -> ComparisonDocument:
    return ComparisonDocument(
        ended.astimezone(UTC).isoformat(timespec="seconds"),
        machine,
        options,
        [round_figures(row) for row in rows],
        [round_figures(yardstick) for yardstick in yardsticks],
    )


def round_figures(figures: Rounded) -> Rounded:
    made = copy(figures)
    for name, value in vars(figures).items():
        if isinstance(value, float):
            setattr(made, name, round(value, DIGITS))
    return made


def page(
    machine: Machine,
    options: Options,
    rows: list[ComparisonRow],
    yardsticks: list[Yardstick],
    ended: datetime,
) -> str:
    """The report as the text of an HTML file."""
    modes = {label(mode, group[0].exhibit): group for mode, group in by_mode(rows).items()}
    return render(
        "report.html",
        machine=machine,
        options=options,
        ended=ended,
        verdicts=[(name, group[0].exhibit, verdict(group)) for name, group in modes.items()],
        remarks=remarks(rows, yardsticks),
        charts=list(filter(None, (draw(chart, rows, yardsticks) for chart in CHARTS))),
        summaries=summaries(rows, yardsticks),
        columns=COLUMNS,
        repeats=[(label(row.mode, row.exhibit), row.repeat, line([row], COLUMNS)) for row in rows],
        warm_up=WARM_UP,
        quiet=QUIET,
        sell_out_limit=SELL_OUT_LIMIT,
        bound=BOUND,
    )


def render(template: str, **context: object) -> str:
    environment = Environment(
        loader=PackageLoader("loadtest", "."), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template(template).render(context)
