"""The report: one file that needs no other, explains every column, and hides nothing."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from datetime import UTC, datetime
from html import escape

import pytest
from figures import Spread
from figures.scale import AIR

from loadtest.charts import CHARTS, draw
from loadtest.columns import COLUMNS
from loadtest.report import document, page
from tests.unit.loadtest.real_comparison import Comparison

# Members of a row on which programs may rely.
PROMISED = {
    *("mode", "repeat", "stocked", "sold", "oversold", "left", "orders"),
    *("sold_out", "busy", "errors", "goodput", "p50_ms", "p99_ms"),
    *("attempts_per_sale", "round_trips_per_sale", "commands_per_sale"),
    *("ratio_noop", "generator_bound"),
}


FINISHED = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)


def html(real: Comparison) -> str:
    return page(real.machine, real.options, real.rows, real.yardsticks, FINISHED)


def test_the_page_needs_nothing_from_anywhere(real: Comparison) -> None:
    page = html(real)
    assert len(page) < 100_000
    assert "<script" not in page
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
    assert "2 workers × 32 threads = 64 threads for 32 buyers" in page
    assert (
        "lastapple compare --modes naive,watch,lock,atomic --stock 500 --buyers 32 --seconds 5 "
        "--repeats 3" in page
    )


def test_bars_are_medians_and_whiskers_reach_from_min_to_max(real: Comparison) -> None:
    drawn = draw(CHARTS[0], real.rows, real.yardsticks)
    assert drawn is not None
    assert list(drawn.groups) == ["naive (broken on purpose)", "watch", "lock", "atomic"]
    spreads = [bar.spread for bars in drawn.groups.values() for bar in bars]
    nothing = Spread(0, 0, 0)
    assert spreads == [Spread(1854, 2793, 2877), nothing, nothing, nothing]
    ((naive,), *_) = drawn.groups.values()
    assert (naive.median, naive.between) == ("2,793", "1,854–2,877")
    whole = AIR * 2877
    assert f'width="{100 * 2793 / whole:.2f}%"' in naive.drawing
    ends = {f"{100 * end / whole:.2f}" for end in (1854, 2877)}
    assert ends <= set(re.findall(r'x[12]="([\d.]+)%"', naive.drawing))


def test_every_bar_stands_beside_its_figures(real: Comparison) -> None:
    page = html(real)
    for chart in CHARTS:
        drawn = draw(chart, real.rows, real.yardsticks)
        assert drawn is not None
        for bars in drawn.groups.values():
            for bar in bars:
                said = f"{bar.median} <small>{bar.between}</small>" if bar.between else bar.median
                assert f"<td>{bar.drawing}</td><td>{said}</td>" in page


def test_withheld_ratios_make_no_chart_and_absent_wrk_no_bars(real: Comparison) -> None:
    for one in real.rows:
        one.ratio_atomic = one.ratio_noop = one.wrk_goodput = one.wrk_ratio_noop = None
    for noop in real.yardsticks:
        noop.wrk_goodput = None
    drawn = {chart.title: draw(chart, real.rows, real.yardsticks) for chart in CHARTS}
    assert drawn["The price of safety"] is None
    goodput = drawn["Goodput"]
    assert goodput is not None
    assert [bar.heading for bar in goodput.groups["watch"]] == ["goodput, sales/s"]


def test_the_document_keeps_its_promise_to_programs(real: Comparison) -> None:
    real.rows[0].ratio_noop = None
    real.rows[0].goodput = 881.327812345
    said = document(real.machine, real.options, real.rows, real.yardsticks, FINISHED)
    again = json.loads(json.dumps(asdict(said), allow_nan=False))
    assert again["ended_at"] == "2026-11-21T07:00:00+00:00"
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
