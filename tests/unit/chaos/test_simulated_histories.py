"""Fifty buyers at a shop that keeps its promises are judged quickly; a lying shop is found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loadtest.chaos.history import BookEntry, Event, Reply, Response, RoundAudit
from loadtest.chaos.judge.anomalies import Anomaly
from loadtest.chaos.judge.judge import judge
from loadtest.chaos.judge.linearize import linearize
from loadtest.chaos.judge.moves import NEVER, Move
from tests.unit.chaos.possible_order import is_possible
from tests.unit.chaos.simulated_shop import Shop

SHOPS = {
    "holds": Shop(1),
    "no holds": Shop(2, hold=None),
    "one to three units": Shop(3, most=3, stock=100),
    "a quarter of the answers lost": Shop(4, lossy=25),
    "one to three units, a quarter lost": Shop(5, lossy=25, most=3),
}


@pytest.fixture(scope="module")
def histories() -> dict[str, list[Event]]:
    return {name: shop.history() for name, shop in SHOPS.items()}


@pytest.mark.parametrize("shop", SHOPS)
def test_four_hundred_purchases_are_decided_at_once(
    histories: dict[str, list[Event]], shop: str
) -> None:
    judged = judge(histories[shop])
    assert (judged.verdict, judged.linearizable, judged.broken) == ("as promised", True, ())
    assert judged.sales > 20
    assert judged.rounds[0].looked_at < 10_000


def test_holds_that_ran_out_late_payments_and_others_are_decided() -> None:
    """37 holds, of which 25 expired and 12 were paid; buyers after that saw the stock go up."""
    moves = [Move(-1, 10 * one, 10 * one + 400, ops=(one,)) for one in range(37)]
    moves += [Move(1, 1_000 + 10 * one, after=one, due=False) for one in range(25)]
    moves += [Move(-1, 1_400, 2_000 + one) for one in range(18)]
    moves += [Move(0, 1_500, 1_500 + one, left, left) for one, left in enumerate([0, 3, 7, 5, 1])]
    moves += [Move(0, 3_000, NEVER + 1, 7, 7)]
    found = linearize(moves, 37)
    assert found.linearizable
    assert is_possible(moves, 37, found.order)
    assert found.looked_at < 200
    moves[-1] = Move(0, 3_000, NEVER + 1, 8, 8)
    assert linearize(moves, 37, 20_000).linearizable is False


def changed(events: list[Event], place: int, event: Event | None) -> list[Event]:
    return [*events[:place], *([event] if event else []), *events[place + 1 :]]


def test_a_lie_about_what_is_left_is_found(histories: dict[str, list[Event]]) -> None:
    events = histories["no holds"]
    told = [
        (place, event)
        for place, event in enumerate(events)
        if isinstance(event, Response) and event.answer is Reply.SOLD and event.left
    ]
    for place, event in told[10::12]:
        assert event.left is not None
        judged = judge(changed(events, place, replace(event, left=event.left + 3)))
        assert {one.wrong for one in judged.broken} == {Anomaly.IMPOSSIBLE}


def test_a_row_that_is_missing_is_found(histories: dict[str, list[Event]]) -> None:
    events = histories["holds"]
    place = next(place for place, event in enumerate(events) if isinstance(event, BookEntry))
    without = changed(changed(events, place, None), place, None)  # store and database
    found = {one.wrong: one for one in judge(without).broken}
    assert found.keys() == {Anomaly.LOST, Anomaly.STRANDED, Anomaly.MISJUDGED}
    assert found[Anomaly.LOST].ops


def test_out_of_budget_is_inconclusive(histories: dict[str, list[Event]]) -> None:
    judged = judge(histories["holds"], budget=20)
    assert (judged.linearizable, judged.verdict, judged.status) == (None, "inconclusive", 1)
    assert judged.rounds[0].unsure == "not decided in 20 steps"


def test_an_audit_that_was_not_settled_is_inconclusive(histories: dict[str, list[Event]]) -> None:
    events = histories["holds"]
    last = events[-1]
    assert isinstance(last, RoundAudit)
    judged = judge([*events[:-1], replace(last, settled=False)])
    assert (judged.verdict, judged.rounds[0].unsure) == (
        "inconclusive",
        "its last audit was not settled",
    )
