"""A fault explains only what it can have met; a run that was cut short proves nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loadtest.chaos.history import (
    ActPlayed,
    Event,
    Kind,
    Part,
    Reply,
    RunStarted,
    ServedAgain,
)
from loadtest.chaos.judge.anomalies import Anomaly
from loadtest.chaos.judge.judge import Judgement, Verdict, judge
from tests.unit.chaos.written_history import Tale

SOLD, HELD = Reply.SOLD, Reply.HELD


def found(events: list[Event]) -> tuple[set[Anomaly], set[Anomaly]]:
    """Return the anomalies that break a promise, and those that a fault explains."""
    judged: Judgement = judge(events)
    return ({each.wrong for each in judged.broken}, {each.wrong for each in judged.expected})


def lost_sale(at: int) -> list[Event]:
    """A failover at 5 s; the sale that was answered at that ms is in no book."""
    tale = Tale(2, ends=8_000).told("a", at, at + 5, SOLD)
    return tale.broken(Kind.FAILOVER, Part.STORE, 5_000, 5_300).audited(2, marked=True)


@pytest.mark.parametrize("at", [4_500, 5_100])
def test_a_failover_explains_a_sale_that_its_replica_lacked(at: int) -> None:
    assert found(lost_sale(at)) == (set(), {Anomaly.LOST, Anomaly.IMPOSSIBLE})


@pytest.mark.parametrize("at", [100, 3_900, 7_900])
def test_a_failover_explains_no_sale_long_before_or_after_it(at: int) -> None:
    broken, _ = found(lost_sale(at))
    assert Anomaly.LOST in broken


@pytest.mark.parametrize(("met", "expected"), [(1, True), (0, False)])
def test_a_kill_explains_as_many_stranded_units_as_it_met(met: int, expected: bool) -> None:
    tale = Tale(3, mode="decr", ends=8_000).broken(Kind.KILL, Part.WORKER, 4_000, 4_200)
    tale = tale.told("a", 10, 20, SOLD, 2).booked("a")
    for key in ("b", "c")[:met]:
        tale = tale.told(key, 3_990, None)
    broken, excused = found(tale.audited(1, said="undersold"))
    assert (Anomaly.STRANDED in excused, Anomaly.STRANDED in broken) == (expected, not expected)


def test_it_explains_no_more_units_than_that() -> None:
    tale = Tale(3, mode="decr").told("a", 3_990, None).broken(Kind.KILL, Part.WORKER, 4_000, 4_200)
    assert Anomaly.STRANDED in found(tale.audited(1, said="undersold"))[0]


@pytest.mark.parametrize("mended", [False, True])
def test_a_failover_explains_units_that_are_there_twice_unless_a_repair_has_counted(
    mended: bool,
) -> None:
    tale = Tale(3).told("a", 10, 20, SOLD, 2).broken(Kind.FAILOVER, Part.STORE, 5, 30).booked("a")
    broken, excused = found(tale.audited(3, said="inconsistent", marked=True, mended=mended))
    assert (Anomaly.SURPLUS in broken, Anomaly.SURPLUS in excused) == (mended, not mended)


def after_a_hold(*, disturbed: bool, at: int) -> list[Event]:
    """Eve's hold of 0.5 s has run out, and she is refused at that ms as having too many units."""
    tale = Tale(5, hold=500, limit=1).told("a", 10, 20, HELD, 4, buyer="eve")
    if disturbed:
        tale = tale.broken(Kind.FREEZE, Part.FULFIL, 400, at)
    return tale.told("b", at, at + 10, Reply.LIMIT, buyer="eve").audited(5)


def test_an_ended_hold_does_not_count_against_its_buyer() -> None:
    assert found(after_a_hold(disturbed=False, at=1_000)) == (set(), set())
    assert found(after_a_hold(disturbed=False, at=2_000)) == ({Anomaly.LIMITED}, set())


def test_it_may_count_longer_while_something_is_broken() -> None:
    assert found(after_a_hold(disturbed=True, at=4_000)) == (set(), set())


@pytest.mark.parametrize(
    ("played", "verdict"), [(7, Verdict.INCONCLUSIVE), (8, Verdict.AS_PROMISED)]
)
def test_a_run_that_played_too_little_of_its_plan_is_inconclusive(
    played: int, verdict: Verdict
) -> None:
    events = Tale(2).told("a", 10, 20, SOLD, 1).booked("a").audited(1)
    run = next(event for event in events if isinstance(event, RunStarted))
    events[events.index(run)] = replace(run, planned=10)
    acts = [ActPlayed(number, number) for number in range(1, 1 + played)]
    assert judge([*events, *acts]).verdict is verdict


def test_a_buyer_who_is_not_served_after_all_repairs_breaks_a_promise() -> None:
    for mode, broken in (("atomic", True), ("naive", False)):
        events = Tale(2, mode=mode).told("a", 10, 20, SOLD, 1).booked("a").audited(1)
        never = ServedAgain(9, "apple", 1, None, "503 The store is away")
        found_stuck = Anomaly.STUCK in found([*events, never])[0]
        assert found_stuck is broken
    assert found([*events, ServedAgain(9, "apple", 1, 0.5)]) == (set(), set())
