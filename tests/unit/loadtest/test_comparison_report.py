"""The report: one file that needs no other, tells every column, and hides nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from html import escape

import pytest

from loadtest.charts import CHARTS, draw
from loadtest.columns import COLUMNS
from loadtest.document import document
from loadtest.report import page
from tests.unit.loadtest.real_run import Comparison

# Members of a row on which programs may rely.
PROMISED = {
    *("mode", "repeat", "stocked", "sold", "oversold", "left", "orders"),
    *("sold_out", "busy", "errors", "goodput", "p50_ms", "p99_ms"),
    *("attempts_per_sale", "round_trips_per_sale", "commands_per_sale"),
    *("ratio_noop", "generator_bound"),
}


FINISHED = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)


def html(real: Comparison) -> str:
    whole = page(real.machine, real.options, real.rows, real.yardsticks, FINISHED)
    assert "Plotly.newPlot" in whole
    # Without plotly.js itself, which is not ours and mentions addresses of its own.
    return re.sub(r"<script>/\*\*.*?</script>", "", whole, count=1, flags=re.DOTALL)


def test_the_page_needs_nothing_from_anywhere(real: Comparison) -> None:
    page = html(real)
    assert len(page) < 200_000  # plotly.js is in the page once
    assert re.findall(r'(?:src|href)\s*=\s*"(?!data:)', page) == []
    assert "@import" not in page
    assert "url(" not in page


def test_every_column_is_explained_with_what_it_cannot_show(real: Comparison) -> None:
    page = html(real)
    for column in COLUMNS:
        assert escape(column.means, quote=False) in page.replace("&#39;", "'")
        assert escape(column.cannot, quote=False) in page.replace("&#39;", "'")


def test_an_exhibit_never_stands_without_its_warning(real: Comparison) -> None:
    page = html(real).replace(real.options.command, "")
    mentions = re.findall(r"naive(.{0,60})", page)
    assert len(mentions) > 10
    assert [rest for rest in mentions if "broken on purpose" not in rest] == []


def test_machine_and_command_are_there_and_escaped(real: Comparison) -> None:
    real.machine = replace(real.machine, cpu="<b>Fast & Furious</b>")
    page = html(real)
    assert "&lt;b&gt;Fast &amp; Furious&lt;/b&gt;" in page
    assert "Valkey 9.1.2, appendfsync always" in page
    assert "2 workers × 32 threads = 64 threads for 32 users" in page
    assert (
        "lastapple compare --modes naive,watch,lock,atomic --stock 500 --users 32 --seconds 5 "
        "--repeats 3" in page
    )


def test_bars_are_medians_and_whiskers_reach_from_min_to_max(real: Comparison) -> None:
    figure = draw(CHARTS[0], real.rows, real.yardsticks)
    assert figure is not None
    (bar,) = figure.data
    assert list(bar.y) == ["naive<br><i>broken on purpose</i>", "watch", "lock", "atomic"]
    assert list(bar.x) == [2793, 0, 0, 0]
    assert bar.error_x.array[0] == 2877 - 2793
    assert bar.error_x.arrayminus[0] == 2793 - 1854


def test_withheld_ratios_make_no_chart_and_absent_wrk_no_bars(real: Comparison) -> None:
    for one in real.rows:
        one.ratio_atomic = one.ratio_noop = one.wrk_goodput = one.wrk_ratio_noop = None
    for noop in real.yardsticks:
        noop.wrk_goodput = None
    drawn = {chart.title: draw(chart, real.rows, real.yardsticks) for chart in CHARTS}
    assert drawn["The price of safety"] is None
    goodput = drawn["Goodput"]
    assert goodput is not None
    assert [trace.name for trace in goodput.data] == ["goodput, sales/s"]


def test_the_document_keeps_its_promise_to_programs(real: Comparison) -> None:
    real.rows[0].ratio_noop = None
    real.rows[0].goodput = 881.327812345
    said = document(real.machine, real.options, real.rows, real.yardsticks, FINISHED)
    again = json.loads(json.dumps(said, allow_nan=False))
    assert again["finished"] == "2026-11-21T07:00:00+00:00"
    for row in again["rows"]:
        assert set(row) >= PROMISED
    assert again["rows"][0]["ratio_noop"] is None
    assert again["rows"][0]["goodput"] == 881.3278
    assert again["rows"][1:] == real.document["rows"][1:]
    assert again["noop"] == real.document["noop"]
    assert again["machine"] == real.document["machine"]


@pytest.mark.parametrize("url", [None, "http://shop.example:8000"])
def test_the_report_says_whose_machine_it_describes(real: Comparison, url: str | None) -> None:
    real.options = replace(real.options, url=url)
    page = html(real)
    assert ("shared this machine" in page) is (url is None)
    assert ("the shop ran at http://shop.example:8000" in page) is (url is not None)
