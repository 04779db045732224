"""The audit against the store's records, and the orders' buyers: histories with a known answer."""

from __future__ import annotations

import pytest

from loadtest.chaos.history import Book, Event, Kind, Part, Reply
from loadtest.chaos.judge.anomalies import Anomaly
from loadtest.chaos.judge.judge import judge
from tests.unit.chaos.written_history import Tale

SOLD, NOBODY = Reply.SOLD, ""


def one_sold(stock: int = 2, mode: str = "atomic") -> Tale:
    return Tale(stock, mode=mode).told("a", 10, 20, SOLD, stock - 1).booked("a")


def lost_in_doubt() -> Tale:
    """A decr may leave units stranded after this."""
    return one_sold(mode="decr").broken(Kind.SWALLOW, Part.STORE, 5, 30)


def two_cookies() -> Tale:
    return (
        Tale(5)
        .told("a", 10, 20, SOLD, 4, cookie="c1")
        .told("b", 30, 40, SOLD, 3, cookie="c2")
        .told("c", 50, 60, SOLD, 2, cookie="c1")
    )


TRUE: dict[str, list[Event]] = {
    "all that it says is so": one_sold().audited(1, said="exact", found=(1, 0)),
    "the store knows that it has lost something": one_sold()
    .broken(Kind.FAILOVER, Part.STORE, 5, 30)
    .audited(1, said="inconsistent", found=(1, 0), marked=True),
    "the loss of an earlier round was noticed in this one": one_sold()
    .broken(Kind.FAILOVER, Part.STORE, -9, -5)
    .audited(1, said="inconsistent", marked=True),
    "it may have seen what the faults excuse": lost_in_doubt().audited(
        1, said="inconsistent", found=(1, 0)
    ),
    "it is not settled, and so says nothing yet; the next one counts": [
        *one_sold().audited(0, settled=False, after=50, found=(1, 0)),
        one_sold().audited(1, said="exact", found=(1, 0))[-1],
    ],
    "one cookie is one buyer, whatever he is called in the books": two_cookies()
    .booked("a", "c", buyer="u1")
    .booked("b", buyer="u2")
    .audited(2),
    "of whom the shop knows no cookie nobody can say who he is": Tale(5)
    .told("a", 10, 20, SOLD, 4)
    .told("b", 30, 40, SOLD, 3)
    .booked("a", "b", buyer="u1")
    .audited(3),
}

WRONG: dict[str, tuple[list[Event], set[Anomaly]]] = {
    "left is what should be there": (
        one_sold(3, mode="naive").audited(2, said="exact", found=(3, 0)),
        {Anomaly.MISJUDGED},  # whatever else an exhibit may do
    ),
    "it hides what is stranded": (
        one_sold(3).audited(2, said="exact", found=(1, 0)),
        {Anomaly.STRANDED, Anomaly.MISJUDGED},
    ),
    "it says that something is held": (
        one_sold(3).audited(1, held=1, said="exact", found=(2, 0)),
        {Anomaly.MISJUDGED},
    ),
    "it does not see what is held": (
        one_sold(3).audited(2, said="exact", found=(1, 1)),
        {Anomaly.MISJUDGED},
    ),
    "a sound round is called inconsistent": (
        one_sold().audited(1, said="inconsistent", found=(1, 0)),
        {Anomaly.MISJUDGED},
    ),
    "a sound round is called inconsistent, and the judge could not look": (
        one_sold().audited(1, said="inconsistent"),
        {Anomaly.ALARM},
    ),
    "the store is marked as having lost something, and nothing was broken": (
        one_sold().audited(1, said="exact", found=(1, 0), marked=True),
        {Anomaly.ALARM},
    ),
    "what was broken loses nothing": (
        one_sold()
        .broken(Kind.KILL, Part.WORKER, 5, 30)
        .audited(1, said="inconsistent", found=(1, 0), marked=True),
        {Anomaly.ALARM},
    ),
    "a sound round is called oversold, whatever was broken": (
        lost_in_doubt().audited(1, said="oversold", found=(1, 0)),
        {Anomaly.MISJUDGED},
    ),
    "a sound round is called undersold, whatever was broken": (
        lost_in_doubt().audited(1, said="undersold", found=(1, 0), marked=True),
        {Anomaly.MISJUDGED},
    ),
    "all orders are somebody else's": (
        two_cookies().booked("a", "b", "c", buyer="somebody else").audited(2),
        {Anomaly.STRANGER},
    ),
    "one order of a buyer is another's": (
        two_cookies().booked("a", buyer="u1").booked("b", "c", buyer="u2").audited(2),
        {Anomaly.STRANGER},
    ),
    "an order of a known buyer is nobody's": (
        two_cookies().booked("a", "c", buyer="u1").booked("b", buyer=NOBODY).audited(2),
        {Anomaly.STRANGER},
    ),
    "the row has another buyer than the sale": (
        two_cookies()
        .booked("a", "c", buyer="u1")
        .booked("b", buyer="u2", where=(Book.STORE,))
        .booked("b", buyer="u3", where=(Book.DATABASE,))
        .audited(2, sold=3),
        {Anomaly.STRANGER},
    ),
}


@pytest.mark.parametrize("why", TRUE)
def test_what_can_be_true_is_found_true(why: str) -> None:
    judged = judge(TRUE[why])
    assert (judged.verdict, judged.broken, judged.expected) == ("as promised", (), ())


@pytest.mark.parametrize("why", WRONG)
def test_what_is_wrong_is_found_and_called_by_its_name(why: str) -> None:
    events, wrong = WRONG[why]
    judged = judge(events)
    assert {one.wrong for one in judged.broken} - {Anomaly.IMPOSSIBLE} == wrong
    assert judged.verdict == "broken promise"


def test_the_last_look_is_what_was_found_and_not_what_the_audit_says() -> None:
    judged = judge(one_sold(3).audited(2, said="exact", found=(1, 0)))
    sentences = {one.wrong: one.sentence for one in judged.broken}
    assert sentences[Anomaly.STRANDED] == "Missing units: 1 (1 left, 0 held and 1 sold of 3)."
    assert sentences[Anomaly.MISJUDGED] == "Units left: the audit says 2, the stock 1."


def test_whose_order_it_is_not_is_told_for_each() -> None:
    events = two_cookies().booked("a", "b", "c", buyer="somebody else").audited(2)
    found = [(one.key, one.round) for one in judge(events).broken]
    assert sorted(found) == [("b", 1), ("b", 1)]  # its row, and its sale
