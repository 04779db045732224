"""Explanations of findings: causes, faults, promises, and the moments of a key."""

from __future__ import annotations

from collections.abc import Sequence

from loadtest.chaos.explanation import Cause, Moment, list_causes
from loadtest.chaos.history import (
    Action,
    Book,
    BookEntry,
    Event,
    InjectedFault,
    Kind,
    Part,
    Reply,
    Request,
    ServedAgain,
)
from loadtest.chaos.judge.anomalies import Anomaly
from loadtest.chaos.judge.judge import judge
from tests.unit.chaos.written_history import MS, Tale

SOLD, HELD, UNKNOWN = Reply.SOLD, Reply.HELD, Reply.UNKNOWN


def broken(events: list[Event]) -> list[Cause]:
    judged = judge(events)
    return list_causes(judged, judged.broken)


def excused(events: list[Event]) -> list[Cause]:
    judged = judge(events)
    return list_causes(judged, judged.expected)


def cause_of(causes: list[Cause], wrong: Anomaly) -> Cause:
    [cause] = [cause for cause in causes if cause.wrong is wrong]
    return cause


def lost(*keys: str, mode: str = "atomic") -> Tale:
    """One sale in no book for each key, 100 ms apart, from 1 s on."""
    tale = Tale(20, mode=mode)
    for number, key in enumerate(keys):
        at = 1_000 + 100 * number
        tale = tale.told(key, at, at + 40, SOLD)
    return tale


def texts(moments: Sequence[Moment], actor: str) -> list[str]:
    return [moment.text for moment in moments if moment.actor == actor]


def test_findings_with_the_same_mode_fault_and_promise_are_one_cause() -> None:
    cause = cause_of(broken(lost(*"abcdefghij").audited(20)), Anomaly.LOST)
    assert cause.headline == "lost: 10; the page promises 0"
    assert (cause.mode, cause.fault.name, len(cause.findings)) == ("atomic", "no fault", 10)
    assert cause.promise == "Each buyer that got SOLD has an order"
    assert texts(cause.moments, "a") == ["asks to buy 1 unit"]
    assert not texts(cause.moments, "b"), "one example is enough"


def test_units_are_counted_and_not_findings() -> None:
    cause = cause_of(broken(Tale(5).audited(2, said="undersold")), Anomaly.STRANDED)
    assert cause.headline == "stranded: 3; the page promises 0"
    assert len(cause.findings) == 1


def test_findings_of_different_faults_are_different_causes() -> None:
    tale = lost("a").told("b", 5_000, 5_040, SOLD).broken(Kind.KILL, Part.WORKER, 4_990, 5_010)
    causes = [one for one in broken(tale.audited(20)) if one.wrong is Anomaly.LOST]
    assert [(one.fault.name, one.findings[0].at) for one in causes] == [
        ("no fault", 1.0),
        ("a process dies", 5.0),
    ]


def test_a_fault_that_hit_the_key_is_named_before_a_later_one() -> None:
    tale = lost("a").broken(Kind.FREEZE, Part.WORKER, 1_020, 1_030)
    [op] = [event.op for event in tale.events if isinstance(event, Request)]
    tale.events.append(InjectedFault(Kind.KILL, Part.WORKER, 1_010 * MS, 1_400 * MS, (op,)))
    cause = cause_of(broken(tale.audited(20)), Anomaly.LOST)
    assert cause.fault.name == "a process dies"
    assert ["hit this purchase" in text for text in texts(cause.moments, "chaos")] == [True, False]


def test_a_key_has_a_line_of_time_in_seconds_of_the_run() -> None:
    tale = Tale(5, hold=2_000, limit=3)
    tale.told("a", 1_000, 1_040, HELD, 3, units=2).pay("a", 1_500, 1_600)
    tale.told("a", 3_000, None, deed=Action.PAY).broken(Kind.KILL, Part.FULFIL, 1_550, 1_900)
    cause = cause_of(broken(tale.booked("a", where=(Book.STORE,)).audited(3)), Anomaly.UNBOOKED)
    assert [(moment.at, moment.actor, moment.text) for moment in cause.moments] == [
        (0.0, "operator", "starts round 1: atomic, 5 units, holds of 2 s, at most 3 for a buyer"),
        (1.0, "a", "asks to buy 2 units"),
        (1.04, "shop", "answers a: HELD, order o-a, 3 units left, after 40 ms"),
        (1.5, "a", "asks to pay"),
        (1.55, "chaos", "a process dies: kill fulfil, until 1.900 s"),
        (1.6, "shop", "answers a: SOLD, order o-a, after 100 ms"),
        (3.0, "a", "asks to pay, and gets no answer"),
        (10.001, "operator", "has ended round 1"),
        (10.1, "audit", "reports 3 units left, 0 held and 2 sold of 5"),
        (None, "database", "has no order for this key"),
        (None, "store", "has sale o-a for this key: 2 units, round 1, buyer a"),
    ]


def test_an_excused_finding_names_the_cell_that_excuses_it() -> None:
    tale = lost("a", "b").broken(Kind.FAILOVER, Part.STORE, 1_200, 1_500)
    cause = cause_of(excused(tale.audited(20, marked=True)), Anomaly.LOST)
    assert cause.headline == "lost: 2; the page allows this"
    assert (cause.fault.name, cause.cell.name) == ("a failover", "forgotten")
    words = 'For atomic, "a failover" and durability safe the page says "forgotten": '
    assert cause.reason.startswith(words + "the store has lost sales")


def test_a_fault_that_met_other_purchases_only_is_not_near_to_an_answer() -> None:
    tale = Tale(3).told("a", 100, 110, SOLD, 2).told("b", 200, 210, SOLD, 2)
    tale.told("c", 5_000, 5_010, SOLD, 0).broken(Kind.KILL, Part.WORKER, 4_900, 5_005)
    cause = cause_of(broken(tale.booked("a", "b", "c").audited(0)), Anomaly.IMPOSSIBLE)
    assert cause.fault.name == "no fault"


def test_a_fault_right_after_an_answer_is_nearer_than_a_later_one() -> None:
    tale = lost("a").broken(Kind.KILL, Part.FULFIL, 1_300, 1_900)
    tale = tale.broken(Kind.FREEZE, Part.STORE, 1_700, 2_900)
    assert cause_of(broken(tale.audited(20)), Anomaly.LOST).fault.name == "a process dies"


def test_an_exhibit_is_excused_without_a_fault() -> None:
    tale = Tale(1, mode="naive").told("a", 10, 20, SOLD, 0).told("b", 10, 20, SOLD, 0)
    cause = cause_of(excused(tale.booked("a", "b").audited(0)), Anomaly.OVERSOLD)
    assert (cause.fault.name, cause.cell.name) == ("no fault", "anything")
    assert texts(cause.moments, "b"), "the last sale"


def test_it_says_that_a_cell_excuses_less_than_was_found() -> None:
    tale = Tale(5, mode="decr").told("a", 3_990, None).broken(Kind.KILL, Part.WORKER, 4_000, 4_200)
    cause = cause_of(broken(tale.audited(2, said="undersold")), Anomaly.STRANDED)
    assert (cause.fault.name, cause.cell.name) == ("a process dies", "stranded")
    assert "only for purchases that the fault can have met" in cause.reason
    assert texts(cause.moments, "a"), "a press without an answer may have taken the units"


def test_answers_that_no_order_explains_are_shown_with_their_neighbours() -> None:
    tale = Tale(3).told("a", 100, 110, SOLD, 2).told("b", 200, 210, SOLD, 2)
    cause = cause_of(broken(tale.booked("a", "b").audited(1)), Anomaly.IMPOSSIBLE)
    said = texts(cause.moments, "shop")
    assert any("answers a: SOLD" in text for text in said)
    assert any("answers b: SOLD" in text for text in said)


def test_a_buyer_that_was_not_served_is_in_the_line_of_time() -> None:
    never = ServedAgain(9_000 * MS, "apple", 1, None, "503 The store is away")
    cause = cause_of(broken([*Tale(5).audited(5), never]), Anomaly.STUCK)
    assert (9.0, "shop", "serves no new buyer after all repairs: 503 The store is away") in [
        (moment.at, moment.actor, moment.text) for moment in cause.moments
    ]


def test_an_order_in_a_round_that_never_began_is_explained() -> None:
    tale = Tale(5).told("a", 10, 20, SOLD, cookie="c").booked("a")
    stray = BookEntry(Book.DATABASE, "o-9", "apple", 9, 1, "a", "a")
    causes = broken([*tale.audited(4), stray])
    cause = cause_of(causes, Anomaly.DENIED)
    assert cause.mode == "a round that never began"
    assert "has order o-9 for this key: 1 unit, round 9, buyer a" in texts(
        cause.moments, "database"
    )


def test_a_long_timeline_keeps_its_begin_and_its_end() -> None:
    tale = Tale(20)
    for number in range(60):
        tale = tale.told("a", 100 * number, 100 * number + 50, SOLD)
    cause = cause_of(broken(tale.audited(20)), Anomaly.LOST)
    assert len(cause.moments) == 41
    assert [moment.text for moment in cause.moments if not moment.actor] == ["(85 more moments)"]
    assert cause.moments[-2].text == "has no order for this key"
