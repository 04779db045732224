"""The answers of a stampede's buyers, added up as it goes."""

from __future__ import annotations

import time

import pytest

from loadtest.answers import ShopAnswer
from loadtest.feed import Feed


def test_nothing_yet() -> None:
    line = Feed().line(buyers=0)
    assert (line["p50_ms"], line["p99_ms"], line["overall"], line["answers"]) == (
        None,
        None,
        None,
        {},
    )


def test_percentiles_are_those_of_the_sales_within_half_a_percent() -> None:
    feed = Feed()
    for ms in range(1, 1_001):
        feed.collect(float(ms), {"answer": ShopAnswer("SOLD", attempts=1)})
    feed.collect(60_000.0, {"answer": ShopAnswer("BUSY", attempts=64)})
    line = feed.line(buyers=1)
    told = [line["p50_ms"], line["p95_ms"], line["p99_ms"]]
    assert told == [pytest.approx(exact, rel=0.006) for exact in (500, 950, 990)]
    assert line["answers"] == {"SOLD": 1_000, "BUSY": 1}
    assert line["retries"] == 63


def test_goodput_is_of_the_last_lines_only() -> None:
    feed = Feed()
    feed.collect(1.0, {"answer": ShopAnswer("SOLD", attempts=1)})
    assert feed.line(buyers=1)["goodput"] > 0
    for _ in range(3):
        line = feed.line(buyers=1)
    assert line["goodput"] == 0
    assert (line["overall"] or 0) > 0


def test_what_is_said_of_the_whole_goes_up_to_the_last_sale() -> None:
    feed = Feed()
    assert (feed.line(buyers=0)["lasted_s"], feed.line(buyers=0)["generator_cpu"]) == (0, None)
    until = time.process_time() + 0.02
    while time.process_time() < until:  # as of a generator that is the limit
        pass
    feed.collect(1.0, {"answer": ShopAnswer("SOLD", attempts=1)})
    line = feed.line(buyers=1)
    assert line["lasted_s"] >= 0.02
    assert line["generator_cpu"] is not None
    assert line["generator_cpu"] * line["lasted_s"] == pytest.approx(0.02, abs=0.01)
    feed.collect(1.0, {"answer": ShopAnswer("SOLD_OUT", attempts=1)})
    later = feed.line(buyers=1)
    assert (later["lasted_s"], later["generator_cpu"]) == (line["lasted_s"], line["generator_cpu"])
