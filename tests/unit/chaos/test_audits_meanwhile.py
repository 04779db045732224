"""Audits while buyers buy: their figures, their verdict, and the holds that they found."""

from __future__ import annotations

import pytest

from loadtest.chaos.history import Event, Kind, Part, Reply
from loadtest.chaos.judge.anomalies import Anomaly
from loadtest.chaos.judge.judge import judge
from tests.unit.chaos.written_history import Tale

SOLD, HELD, LIMIT = Reply.SOLD, Reply.HELD, Reply.LIMIT


def one_sold() -> Tale:
    return Tale(3).told("a", 10, 20, SOLD, 2).booked("a")


def refused_after_a_hold(look: tuple[int, int] | None, at: int, held: int = 0) -> list[Event]:
    """Eve's hold has run out, and she is refused at that ms; fulfil is frozen until 1.9 s."""
    tale = Tale(5, hold=500, limit=1).told("a", 10, 20, HELD, 4, buyer="eve")
    tale = tale.broken(Kind.FREEZE, Part.FULFIL, 400, 1_900)
    if look:
        tale = tale.looked(*look, 5 - held, held, 0)
    return tale.told("b", at, at + 10, LIMIT, buyer="eve").audited(5)


TRUE: dict[str, list[Event]] = {
    "it counts a sale or not that is answered meanwhile": one_sold()
    .looked(5, 30, 2, 0, 1)
    .looked(5, 15, 3, 0, 0)
    .audited(2),
    "an alarm while the process that sells is frozen": one_sold()
    .broken(Kind.FREEZE, Part.WORKER, 500, 6_500)
    .looked(5_600, 5_700, 2, 0, 1, "undersold")
    .audited(2),
    "what is sold may be lost later": Tale(3)
    .told("a", 10, 20, SOLD, 2)
    .looked(30, 40, 2, 0, 1)
    .broken(Kind.FAILOVER, Part.STORE, 10, 50)
    .audited(3, marked=True),
    "the limit, as an audit still found the hold": refused_after_a_hold((1_000, 1_010), 1_950, 1),
    "the limit, soon after what was broken": refused_after_a_hold(None, 2_000),
}
WRONG: dict[str, tuple[list[Event], Anomaly]] = {
    "it misses a sale that was answered before": (
        one_sold().looked(30, 40, 2, 0, 0).audited(2),
        Anomaly.MISJUDGED,
    ),
    "it counts a sale before its buyer has pressed": (
        one_sold().looked(2, 5, 3, 0, 1).audited(2),
        Anomaly.MISJUDGED,
    ),
    "it finds more left than there can be": (
        one_sold().looked(30, 40, 3, 0, 1).audited(2),
        Anomaly.IMPOSSIBLE,
    ),
    "it gives an alarm while all is well": (
        one_sold().looked(30, 40, 2, 0, 1, "undersold").audited(2),
        Anomaly.ALARM,
    ),
    "the limit, though an audit found no hold": (
        refused_after_a_hold((1_950, 1_960), 1_970),
        Anomaly.LIMITED,
    ),
    "the limit, long after a hold of which the first answer was lost": (
        Tale(5, hold=500, limit=1)
        .told("a", 10, 15, buyer="eve")
        .told("a", 20, 30, HELD, buyer="eve")
        .told("b", 2_000, 2_010, LIMIT, buyer="eve")
        .audited(5),
        Anomaly.LIMITED,
    ),
    "the limit, long after what was broken": (
        refused_after_a_hold(None, 5_000),
        Anomaly.LIMITED,
    ),
}


@pytest.mark.parametrize("why", TRUE)
def test_audits_that_are_right(why: str) -> None:
    assert judge(TRUE[why]).broken == ()


@pytest.mark.parametrize("why", WRONG)
def test_audits_and_limits_that_are_wrong(why: str) -> None:
    events, wrong = WRONG[why]
    assert {each.wrong for each in judge(events).broken} == {wrong}
