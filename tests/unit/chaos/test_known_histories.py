"""Histories whose answer is known, possible or not: each says why."""

from __future__ import annotations

import pytest

from loadtest.chaos.history import Action, Book, Event, Reply
from loadtest.chaos.judge.anomalies import Anomaly
from loadtest.chaos.judge.judge import judge
from tests.unit.chaos.written_history import Tale

SOLD, HELD, OUT = Reply.SOLD, Reply.HELD, Reply.SOLD_OUT
EXPIRED, BACK, BUSY = Reply.EXPIRED, Reply.GIVEN_BACK, Reply.BUSY

TRUE: dict[str, list[Event]] = {
    "the loser's answer came before the winner's": Tale(1)
    .told("a", 10, 30, SOLD, 0)
    .told("b", 11, 20, OUT, 0)
    .booked("a")
    .audited(0),
    "nobody was told of a press, and it did not happen": Tale(1)
    .told("a", 10, None)
    .told("b", 50, 60, SOLD, 0)
    .booked("b")
    .audited(0),
    "nobody was told of a press, and it took the unit long after": Tale(2)
    .told("a", 10, 20)
    .told("b", 50, 60, SOLD, 1)
    .told("c", 70, 80, OUT, 0)
    .booked("a", "b")
    .audited(0),
    "BUSY says nothing of the stock": Tale(1).told("a", 10, 20, BUSY).audited(1),
    "a key that is pressed again is told of the same order": Tale(2)
    .told("a", 10, 20, SOLD, 1)
    .told("a", 30, 40, SOLD)
    .booked("a")
    .audited(1),
    "a press that nobody was told of is found by the next one": Tale(2)
    .told("a", 10, 20)
    .told("b", 21, 25, SOLD, 0)
    .told("a", 30, 40, SOLD)
    .booked("a", "b")
    .audited(0),
    "two answers can be true in an order that is not that of their coming": Tale(3)
    .told("a", 10, 40, SOLD, 0)
    .told("b", 11, 41, SOLD, 1)
    .told("c", 12, 42, SOLD, 2)
    .booked("a", "b", "c")
    .audited(0),
    "too few for one are enough for another": Tale(2)
    .told("a", 10, 20, SOLD, 1)
    .told("b", 30, 40, OUT, 1, units=2)
    .told("c", 50, 60, SOLD, 0)
    .booked("a", "c")
    .audited(0),
    "a hold runs out, and its unit is sold": Tale(1, hold=500)
    .told("a", 10, 20, HELD, 0)
    .told("b", 600, 610, HELD, 0)
    .pay("b", 620, 630)
    .booked("b")
    .audited(0),
    "a hold that is still one, as the sweep comes later": Tale(1, hold=500)
    .told("a", 9_990, 9_995, HELD, 0)
    .audited(0, held=1, after=700),
    "a hold has run out before its buyer was told of it": Tale(1, hold=500)
    .told("a", 10, 700, EXPIRED)
    .told("b", 20, 30, OUT, 0)
    .told("b", 600, 610, HELD, 0)
    .pay("b", 620, 630)
    .booked("b")
    .audited(0),
    "a hold has run out, and nobody has noticed yet": Tale(1, hold=500)
    .told("a", 10, 20, HELD, 0)
    .told("b", 2_000, 2_010, OUT, 0)
    .audited(1),
    "a hold is cancelled, and its unit is sold": Tale(1, hold=5_000)
    .told("a", 10, 20, HELD, 0)
    .cancel("a", 30, 40)
    .told("b", 50, 60, HELD, 0)
    .pay("b", 70, 80)
    .booked("b")
    .audited(0),
    "of a cancelled hold nobody was told, and its unit is back": Tale(1, hold=5_000)
    .told("a", 10, 20, HELD, 0)
    .told("a", 30, None, deed=Action.CANCEL)
    .told("b", 50, 60, HELD, 0)
    .pay("b", 70, 80)
    .booked("b")
    .audited(0),
    "a late payment is refused": Tale(1, hold=500)
    .told("a", 10, 20, HELD, 0)
    .pay("a", 900, 910, EXPIRED)
    .told("a", 920, 930, EXPIRED)
    .audited(1),
    "paid twice is paid once, also when the deadline is past": Tale(1, hold=500)
    .told("a", 10, 20, HELD, 0)
    .pay("a", 30, 40)
    .pay("a", 900, 910)
    .booked("a")
    .audited(0),
    "nobody was told of a press in the round before: it took the unit in this one": Tale(
        1, hold=500, late=5_000
    )
    .told("a", -1_000, None)
    .told("b", 10, 20, OUT, 0)
    .audited(1),
    "nobody was told of a hold: it took the unit, and ran out": Tale(1, hold=500)
    .told("a", 10, None)
    .told("b", 100, 110, OUT, 0)
    .told("c", 700, 710, HELD, 0)
    .pay("c", 720, 730)
    .booked("c")
    .audited(0),
    "sold out, and then a press of the same key that nobody was told of": Tale(1, hold=500)
    .told("a", 10, 20, HELD, 0)
    .told("b", 30, 40, OUT, 0)
    .told("b", 50, None)
    .told("b", 600, 610, HELD)
    .pay("b", 620, 630)
    .booked("b")
    .audited(0),
    "a hold that was told after it had run out": Tale(1, hold=500)
    .told("a", 10, 2_000, HELD, 0)
    .told("b", 700, 710, HELD, 0)
    .pay("b", 720, 730)
    .booked("b")
    .audited(0),
    "told of the limit by who has as much": Tale(5, limit=2)
    .told("a", 10, 20, SOLD, 3, units=2, buyer="eve")
    .told("b", 30, 40, Reply.LIMIT, buyer="eve")
    .booked("a")
    .audited(3),
    "told of the limit by who may have as much": Tale(5, limit=2, hold=500)
    .told("a", 10, None, units=2, buyer="eve")
    .told("b", 30, 40, Reply.LIMIT, buyer="eve")
    .audited(5),
    "decr may say sold out while somebody puts back what was too much": Tale(2, mode="decr")
    .told("a", 10, 30, OUT, 1, units=2)
    .told("b", 40, 50, OUT, 0)
    .audited(2),
    "what comes back while it waits sql_units does not see": Tale(2, mode="sql_units", hold=500)
    .told("a", 10, 20, HELD)
    .told("b", 600, 900, OUT, 0)
    .told("c", 700, 710, HELD)
    .pay("c", 720, 730)
    .booked("c")
    .audited(1),
}

WRONG: dict[str, tuple[list[Event], set[Anomaly], bool]] = {
    "one unit, two orders": (
        Tale(1).told("a", 10, 20, SOLD, 0).told("b", 10, 20, SOLD, 0).booked("a", "b").audited(0),
        {Anomaly.OVERSOLD, Anomaly.SURPLUS},
        False,
    ),
    "sold out, and it never was": (Tale(1).told("a", 10, 20, OUT, 0).audited(1), set(), False),
    "sold out before anybody had pressed": (
        Tale(1).told("a", 10, 20, OUT, 0).told("b", 30, 40, SOLD, 0).booked("b").audited(0),
        set(),
        False,
    ),
    "a stock that rises by itself": (
        Tale(3)
        .told("a", 10, 20, SOLD, 0)
        .told("b", 30, 40, SOLD, 1)
        .told("c", 9, 50, SOLD)
        .booked("a", "b", "c")
        .audited(0),
        set(),
        False,
    ),
    "two read the same stock": (
        Tale(2).told("a", 10, 20, SOLD, 1).told("b", 10, 20, SOLD, 1).booked("a", "b").audited(1),
        {Anomaly.SURPLUS},
        False,
    ),
    "told sold out with as many left as were asked for": (
        Tale(3).told("a", 10, 20, OUT, 3, units=2).audited(3),
        set(),
        False,
    ),
    "a held unit is sold before the deadline": (
        Tale(1, hold=5_000)
        .told("a", 10, 20, HELD, 0)
        .told("b", 100, 110, HELD, 0)
        .pay("b", 120, 130)
        .booked("b")
        .audited(0),
        set(),
        False,
    ),
    "a key that has bought is told sold out": (
        Tale(1).told("a", 10, 20, SOLD, 0).told("a", 30, 40, OUT, 0).booked("a").audited(0),
        set(),
        False,
    ),
    "sold out by its own other press, which it would have been told of": (
        Tale(1).told("a", 10, 50, OUT, 0).told("a", 20, 40, SOLD, 0).booked("a").audited(0),
        set(),
        False,
    ),
    "sold out by its own other press, of which nobody was told": (
        Tale(1, hold=500).told("b", 8, 16, OUT, 0).told("b", 12, None).audited(1),
        set(),
        False,
    ),
    "one unknown press explains one unit, not two": (
        Tale(2, hold=500).told("a", 10, None).told("b", 50, 60, OUT, 0).audited(2),
        set(),
        False,
    ),
    "an unknown press explains nothing that was before it": (
        Tale(1, hold=500).told("b", 10, 20, OUT, 0).told("a", 30, None).audited(1),
        set(),
        False,
    ),
    "after so long nothing that was sent can happen any more": (
        Tale(1, hold=500, late=100).told("a", -1_000, None).told("b", 10, 20, OUT, 0).audited(1),
        set(),
        False,
    ),
    "the last units are left, and sold out was told": (
        Tale(5)
        .told("a", 10, 20, SOLD, 4)
        .told("b", 30, 40, OUT, 0, units=2)
        .booked("a")
        .audited(4),
        set(),
        False,
    ),
    "acknowledged and gone": (
        Tale(2).told("a", 10, 20, SOLD, 1).audited(1),
        {Anomaly.LOST, Anomaly.STRANDED},
        True,
    ),
    "acknowledged, gone, and on sale again": (
        Tale(1).told("a", 10, 20, SOLD, 0).audited(1),
        {Anomaly.LOST},
        False,
    ),
    "in the store for ever": (
        Tale(2).told("a", 10, 20, SOLD, 1).booked("a", where=(Book.STORE,)).audited(1),
        {Anomaly.UNBOOKED},
        True,
    ),
    "one key, two rows": (
        Tale(2)
        .told("a", 10, 20, SOLD, 1)
        .booked("a")
        .booked("a", id="o-2", where=(Book.DATABASE,))
        .audited(0),
        {Anomaly.TWICE},
        True,
    ),
    "one key, told of two orders": (
        Tale(2)
        .told("a", 10, 20, SOLD, 1)
        .told("a", 30, 40, SOLD, order="o-2")
        .booked("a")
        .audited(1),
        {Anomaly.TWICE},
        True,
    ),
    "one id, two rows": (
        Tale(2)
        .told("a", 10, 20, SOLD, 1)
        .booked("a", where=(Book.DATABASE, Book.DATABASE))
        .audited(1),
        {Anomaly.TWICE},
        True,
    ),
    "taken by a press that nobody knows of, and never noted": (
        Tale(2).told("a", 10, None).told("b", 50, 60, OUT, 1, units=2).audited(1),
        {Anomaly.STRANDED},
        True,
    ),
    "a hold that ran out and never came back": (
        Tale(1, hold=500).told("a", 10, 20, HELD, 0).pay("a", 900, 910, EXPIRED).audited(0),
        {Anomaly.STRANDED},
        True,
    ),
    "a hold that is still one, long after its deadline": (
        Tale(1, hold=500).told("a", 10, 20, HELD, 0).audited(0, held=1, after=40_000),
        {Anomaly.HELD_ON},
        True,
    ),
    "given back twice": (
        Tale(1, hold=5_000).told("a", 10, 20, HELD, 0).cancel("a", 30, 40).audited(2),
        {Anomaly.SURPLUS},
        False,
    ),
    "given back by expiry though it was paid": (
        Tale(1, hold=500).told("a", 10, 20, HELD, 0).pay("a", 490, 500).booked("a").audited(1),
        {Anomaly.SURPLUS},
        False,
    ),
    "paid, and told expired": (
        Tale(1, hold=500)
        .told("a", 10, 20, HELD, 0)
        .pay("a", 490, 500)
        .pay("a", 700, 710, EXPIRED)
        .booked("a")
        .audited(0),
        {Anomaly.RETURNED},
        True,
    ),
    "booked, though told sold out": (
        Tale(1).told("a", 10, 20, OUT, 1, units=1).booked("a").audited(0),
        {Anomaly.DENIED},
        False,
    ),
    "booked, and never asked for": (Tale(1).booked("ghost").audited(0), {Anomaly.DENIED}, False),
    "an order that nobody paid for": (
        Tale(1, hold=500).told("a", 10, 20, HELD, 0).booked("a").audited(0),
        {Anomaly.DENIED},
        True,
    ),
    "more than a buyer may have": (
        Tale(5, limit=2)
        .told("a", 10, 20, SOLD, 3, units=2, buyer="eve")
        .told("b", 30, 40, SOLD, 2, buyer="eve")
        .booked("a", "b")
        .audited(2),
        {Anomaly.OVER_LIMIT},
        True,
    ),
    "told of a limit that another buyer has reached": (
        Tale(5, limit=2)
        .told("a", 10, 20, SOLD, 3, units=2, buyer="eve")
        .told("b", 30, 40, Reply.LIMIT, buyer="ann")
        .booked("a")
        .audited(3),
        {Anomaly.LIMITED},
        True,
    ),
    "told of a limit before it was reached": (
        Tale(5, limit=2)
        .told("b", 10, 20, Reply.LIMIT, buyer="eve")
        .told("a", 30, 40, SOLD, 3, units=2, buyer="eve")
        .booked("a")
        .audited(3),
        {Anomaly.LIMITED},
        True,
    ),
    "paid long after the deadline": (
        Tale(1, hold=500).told("a", 10, 20, HELD, 0).pay("a", 700, 710).booked("a").audited(0),
        {Anomaly.LATE},
        True,
    ),
    "called expired long before": (
        Tale(1, hold=5_000).told("a", 10, 20, HELD, 0).pay("a", 700, 710, EXPIRED).audited(1),
        {Anomaly.EARLY},
        False,
    ),
    "a hold once more, after it was paid": (
        Tale(1, hold=500)
        .told("a", 10, 20, HELD, 0)
        .pay("a", 30, 40)
        .told("a", 50, 60, HELD)
        .booked("a")
        .audited(0),
        {Anomaly.FORGOTTEN},
        True,
    ),
    "paid for after it was given back": (
        Tale(1, hold=500)
        .told("a", 10, 20, HELD, 0)
        .cancel("a", 30, 40)
        .pay("a", 50, 60)
        .booked("a")
        .audited(0),
        {Anomaly.RETURNED},
        True,
    ),
    "a hold once more, after it was given back": (
        Tale(1, hold=500)
        .told("a", 10, 20, HELD, 0)
        .cancel("a", 30, 40)
        .told("a", 50, 60, HELD)
        .audited(1),
        {Anomaly.FORGOTTEN},
        True,
    ),
    "a key that has bought is refused afterwards": (
        Tale(2).told("a", 10, 20, SOLD, 1).told("a", 30, 40, Reply.REFUSED).booked("a").audited(1),
        {Anomaly.FORGOTTEN},
        True,
    ),
    "sold after the round's end": (
        Tale(1, ends=100).told("a", 500, 510, SOLD, 0).booked("a").audited(0),
        {Anomaly.AFTER_END},
        False,
    ),
    "the audit counts what is not there": (
        Tale(2).told("a", 10, 20, SOLD, 1).booked("a").audited(1, sold=2),
        {Anomaly.MISJUDGED},
        True,
    ),
    "the audit is blind": (
        Tale(2).told("a", 10, None).audited(1, said="exact"),
        {Anomaly.STRANDED, Anomaly.MISJUDGED},
        True,
    ),
}


@pytest.mark.parametrize("why", TRUE)
def test_what_can_be_true_is_found_true(why: str) -> None:
    judged = judge(TRUE[why])
    assert (judged.rounds[0].linearizable, judged.broken, judged.expected) == (True, (), ())
    assert judged.verdict == "as promised"


@pytest.mark.parametrize("why", WRONG)
def test_what_is_wrong_is_found_and_called_by_its_name(why: str) -> None:
    events, wrong, linearizable = WRONG[why]
    judged = judge(events)
    found = {one.wrong for one in judged.broken}
    assert found - {Anomaly.IMPOSSIBLE} == wrong
    assert judged.rounds[0].linearizable is linearizable
    assert (Anomaly.IMPOSSIBLE in found) is not linearizable
    assert (judged.verdict, judged.status) == ("broken promise", 1)
