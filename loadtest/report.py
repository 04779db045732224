"""The comparison as one HTML file: charts, tables, and what each column means.

Self-contained, and without a script: it can be mailed, archived and opened without a network.
"""

from __future__ import annotations

from datetime import datetime

from figures import BOUND
from jinja2 import Environment, PackageLoader, StrictUndefined

from loadtest.charts import CHARTS, draw
from loadtest.columns import COLUMNS
from loadtest.generator import QUIET, SELL_OUT_LIMIT, WARM_UP
from loadtest.machine import Machine
from loadtest.remarks import remarks, verdict
from loadtest.rows import Row, Yardstick, by_mode, label
from loadtest.run import Options
from loadtest.table import line, summaries


def page(
    machine: Machine,
    options: Options,
    rows: list[Row],
    yardsticks: list[Yardstick],
    ended: datetime,
) -> str:
    """The report as the text of an HTML file."""
    modes = {label(mode, group[0].exhibit): group for mode, group in by_mode(rows).items()}
    environment = Environment(
        loader=PackageLoader("loadtest", "."), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("report.html").render(
        machine=machine,
        options=options,
        ended=ended,
        verdicts=[(name, group[0].exhibit, verdict(group)) for name, group in modes.items()],
        remarks=remarks(rows, yardsticks),
        charts=list(filter(None, (draw(chart, rows, yardsticks) for chart in CHARTS))),
        summaries=summaries(rows, yardsticks),
        columns=COLUMNS,
        repeats=[(label(one.mode, one.exhibit), one.repeat, line([one], COLUMNS)) for one in rows],
        warm_up=WARM_UP,
        quiet=QUIET,
        sell_out_limit=SELL_OUT_LIMIT,
        bound=BOUND,
    )
