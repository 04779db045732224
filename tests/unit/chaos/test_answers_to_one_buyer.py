"""The price and the deadline in an order's answers, and a limit while a buyer uses two keys."""

from __future__ import annotations

import pytest

from loadtest.chaos.history import Action, Event, Reply
from loadtest.chaos.judge.anomalies import Anomaly
from loadtest.chaos.judge.judge import judge
from tests.unit.chaos.written_history import Tale

SOLD, HELD, LOOK = Reply.SOLD, Reply.HELD, Action.LOOK


def held(deadline: int) -> Tale:
    """A hold of 5 s, taken between 10 and 20 ms, with the deadline that its buyer got."""
    return Tale(2, hold=5_000, price=60).told("a", 10, 20, HELD, 1, deadline=deadline)


def two_keys(at_once: bool) -> Tale:
    """Eve may have two units, and holds two under each key: the first one is cancelled."""
    tale = Tale(9, hold=5_000, limit=2).told("a", 10, 20, HELD, 7, units=2, buyer="eve")
    first, second = (300, 50) if at_once else (50, 300)
    tale = tale.cancel("a", first, first + 10)
    return tale.told("b", second, second + 10, HELD, units=2, buyer="eve").cancel("b", 400, 410)


TRUE: dict[str, list[Event]] = {
    "the page multiplies the price by the units": Tale(3, price=60)
    .told("a", 10, 20, SOLD, 1, units=2)
    .told("a", 30, 40, SOLD, deed=LOOK, cents=120)
    .booked("a", price=60)
    .audited(1),
    "the page shows the deadline that the answer had": held(5_015)
    .told("a", 900, 910, HELD, deed=LOOK, cents=60, deadline=5_015)
    .cancel("a", 920, 930)
    .audited(2),
    "bought as soon as the round opens": Tale(1, delay=600)
    .told("a", 590, 601, SOLD, 0)
    .booked("a")
    .audited(0),
    "two keys, one after the other": two_keys(at_once=False).audited(9),
}
WRONG: dict[str, tuple[list[Event], Anomaly]] = {
    "the page shows the price of one unit": (
        Tale(3, price=60)
        .told("a", 10, 20, SOLD, 1, units=2)
        .told("a", 30, 40, SOLD, deed=LOOK, cents=60)
        .booked("a", price=60)
        .audited(1),
        Anomaly.MISTOLD,
    ),
    "booked at another price": (
        Tale(3, price=60).told("a", 10, 20, SOLD, 2).booked("a", price=61).audited(2),
        Anomaly.MISTOLD,
    ),
    "a deadline before its time": (
        held(4_000).cancel("a", 920, 930).audited(2),
        Anomaly.MISTOLD,
    ),
    "a deadline after its time": (held(6_000).cancel("a", 920, 930).audited(2), Anomaly.MISTOLD),
    "a deadline that moves when the page is loaded": (
        held(5_015)
        .told("a", 900, 910, HELD, deed=LOOK, cents=60, deadline=5_090)
        .cancel("a", 920, 930)
        .audited(2),
        Anomaly.MISTOLD,
    ),
    "bought before the round opens": (
        Tale(1, delay=600).told("a", 300, 310, SOLD, 0).booked("a").audited(0),
        Anomaly.UNOPENED,
    ),
    "two keys at once have more than the limit": (
        two_keys(at_once=True).audited(9),
        Anomaly.OVER_LIMIT,
    ),
}


@pytest.mark.parametrize("why", TRUE)
def test_answers_that_are_right(why: str) -> None:
    judged = judge(TRUE[why])
    assert (judged.broken, judged.expected, judged.verdict) == ((), (), "as promised")


@pytest.mark.parametrize("why", WRONG)
def test_answers_that_are_wrong(why: str) -> None:
    events, wrong = WRONG[why]
    assert {each.wrong for each in judge(events).broken} == {wrong}
