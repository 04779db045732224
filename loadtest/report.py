"""The comparison as one HTML file: charts, tables, and what each column means.

Self-contained: plotly.js comes out of plotly's wheel into the page, about 5 MB. It can be
mailed, archived and opened without a network.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from loadtest.charts import CHARTS, Chart, draw
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
    finished: datetime,
) -> str:
    """The report as the text of an HTML file."""
    modes = {label(mode, group[0].exhibit): group for mode, group in by_mode(rows).items()}
    environment = Environment(
        loader=PackageLoader("loadtest", "."), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("report.html").render(
        machine=machine,
        options=options,
        finished=finished,
        verdicts=[(name, group[0].exhibit, verdict(group)) for name, group in modes.items()],
        remarks=remarks(rows, yardsticks),
        charts=list(drawn(rows, yardsticks)),
        summaries=summaries(rows, yardsticks),
        columns=COLUMNS,
        repeats=[(label(one.mode, one.exhibit), one.repeat, line([one], COLUMNS)) for one in rows],
        plotly_js=Markup(get_plotlyjs()),  # noqa: S704  the wheel's own file
        warm_up=WARM_UP,
        quiet=QUIET,
        sell_out_limit=SELL_OUT_LIMIT,
    )


def drawn(rows: list[Row], yardsticks: list[Yardstick]) -> Iterator[tuple[Chart, Markup]]:
    """The charts that have anything to show, as HTML without plotly.js."""
    for number, chart in enumerate(CHARTS):
        figure = draw(chart, rows, yardsticks)
        if figure is not None:
            html = figure.to_html(
                full_html=False,
                include_plotlyjs=False,
                div_id=f"chart-{number}",
                config={"responsive": True, "displayModeBar": False},
            )
            yield chart, Markup(html)  # noqa: S704  plotly escapes what it draws
