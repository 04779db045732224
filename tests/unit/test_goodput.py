"""Goodput does not count a sale without a unit in stock."""

from __future__ import annotations

from app.lab.stampede.drive import Goodput, whole


def test_it_ends_where_the_stock_does() -> None:
    """There are one hundred; 60 are sold every half second, and the sale lasts for two more."""
    goodput = Goodput(100)
    seen = [goodput.now(at / 2, 60 * at) for at in range(5)]
    assert seen == [None, 120.0, 100.0, 40.0, 0.0]


def test_of_a_whole_run() -> None:
    assert whole(940.0, 2_350, 100) == 40.0
    assert whole(50.0, 100, 100) == 50.0
    assert whole(50.0, 80, 100) == 50.0, "a stock that was not sold out takes nothing away"
    assert whole(None, 0, 100) is None
