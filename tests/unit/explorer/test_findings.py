"""Each mode's findings, with the fewest steps and faults: two buyers, one unit."""

from __future__ import annotations

import pytest
from badluck.explorer import Explorer
from badluck.faults import Faults

from app.explorer.targets import Target

NONE, CRASH, PAUSE = Faults(), Faults(crash=1), Faults(pause=2)
LOST, FAILOVER = Faults(lost=1), Faults(failover=1)

SOUND_UNLESS_THE_STORE_FORGETS = ["watch", "watched"]
CLEAN = [
    *((name, faults) for name in SOUND_UNLESS_THE_STORE_FORGETS for faults in (CRASH, PAUSE, LOST)),
    *((name, faults) for name in ("atomic", "fenced") for faults in (CRASH, PAUSE)),
    *((f"lock:{name}", CRASH) for name in ("lease", "fenced", "watchdog", "queue", "getset")),
    ("fused", PAUSE),
    ("fused", CRASH),
    ("lock:setnx", PAUSE),
]


@pytest.mark.parametrize(("name", "faults"), CLEAN)
def test_prevented(name: str, faults: Faults) -> None:
    report = Explorer(Target(name), 2).explore(faults)
    assert report.exhaustive
    assert [finding.name for finding in report.findings] == []


@pytest.mark.parametrize(
    ("name", "faults", "finding", "cost"),
    [
        ("naive", NONE, "oversell", (0, 2, 6)),
        ("read_before_watch", NONE, "oversell", (0, 2, 8)),
        ("watch_elsewhere", NONE, "oversell", (0, 2, 8)),
        ("lock:watchdog_any", NONE, "oversell", (0, 2, 6)),
        ("naive", CRASH, "unit lost", (1, 1, 4)),
        ("decr", CRASH, "unit lost", (1, 1, 7)),
        ("decr", CRASH, "negative stock", (1, 2, 9)),
        ("lock:setnx", CRASH, "stuck forever", (1, 0, 2)),
        ("lock:setnx", CRASH, "lock leaked", (1, 1, 8)),
        ("lock:setnx_expire", CRASH, "stuck forever", (1, 0, 2)),
        ("lock:lease", PAUSE, "oversell", (1, 3, 7)),
        ("lock:lease", PAUSE, "two holders", (1, 2, 3)),
        ("lock:unowned", PAUSE, "lock deleted by another", (1, 3, 6)),
        ("lock:setnx_expire", PAUSE, "oversell", (1, 3, 9)),
        ("lock:getset", PAUSE, "oversell", (1, 3, 11)),
        ("lock:del_takeover", PAUSE, "oversell", (1, 3, 12)),
        ("lock:fenced", PAUSE, "oversell", (1, 3, 7)),
        ("lock:watchdog", PAUSE, "oversell", (1, 3, 7)),
        ("watched_blind", PAUSE, "oversell", (2, 6, 10)),
        ("lock:setnx", LOST, "stuck forever", (1, 0, 1)),
        ("atomic", LOST, "phantom order", (1, 0, 1)),
        ("atomic", FAILOVER, "oversell", (1, 2, 3)),
        ("atomic", FAILOVER, "order lost", (1, 1, 2)),
        ("atomic", FAILOVER, "undersell", (1, 2, 3)),
        ("fused", FAILOVER, "oversell", (1, 4, 11)),
        ("lock:queue", PAUSE, "oversell", (1, 3, 7)),
    ],
)
def test_found(name: str, faults: Faults, finding: str, cost: tuple[int, int, int]) -> None:
    report = Explorer(Target(name), 2).explore(faults)
    assert report.exhaustive
    assert {found.name: tuple(found.cost) for found in report.findings}[finding] == cost


def test_a_third_buyer_finds_what_two_cannot() -> None:
    """A dead holder's stamp has expired; two see it, and the second deletes the first's lock."""
    two = Explorer(Target("lock:del_takeover"), 2).explore(CRASH)
    three = Explorer(Target("lock:del_takeover"), 3).explore(CRASH)
    assert [finding.name for finding in two.findings] == []
    assert three.findings[0].name == "oversell"


def test_less_than_a_second_that_passes_is_not_none() -> None:
    report = Explorer(Target("fused"), 2).explore(FAILOVER)
    oversell = next(finding for finding in report.findings if finding.name == "oversell")
    assert [step.lines for step in oversell.trace if step.does == "time"] == [["100 ms"], ["4 ms"]]


@pytest.mark.parametrize(
    ("name", "finding", "cost"),
    [
        ("naive", "sold twice", (1, 0, 4)),
        ("fenced", "sold twice", (1, 0, 4)),
        ("decr", "oversell", (1, 1, 10)),  # by the units that are given back
    ],
)
def test_redis_pys_own_retries_do_it_once_more(
    name: str, finding: str, cost: tuple[int, int, int]
) -> None:
    """One lost reply is enough."""
    once = Explorer(Target(name), 2).explore(LOST)
    again = Explorer(Target(name, resend=True), 2).explore(LOST)
    assert finding not in [found.name for found in once.findings]
    assert {found.name: tuple(found.cost) for found in again.findings}[finding] == cost


@pytest.mark.parametrize("name", ["atomic", "lock:lease"])
def test_a_script_that_knows_its_key_may_be_sent_again(name: str) -> None:
    assert Explorer(Target(name, resend=True), 2).explore(LOST).findings == []


def test_work_that_is_longer_than_the_lease_oversells_without_a_fault() -> None:
    """It works for long: the lease ends by itself, unless it is renewed."""
    report = Explorer(Target("lock:lease", think=15_000), 2).explore(NONE)
    assert {found.name: tuple(found.cost) for found in report.findings} == {
        "oversell": (0, 6, 13),
        "two holders": (0, 2, 4),
    }
    for name in ("lock:watchdog", "lock:queue", "fenced"):
        assert Explorer(Target(name, think=15_000), 2).explore(NONE).findings == []


@pytest.mark.parametrize("name", ["lock:unowned", "watched_blind"])
def test_who_deletes_anothers_lock_is_seen_to_do_it(name: str) -> None:
    """The state after it can also be reached in cheaper ways, without any lock."""
    report = Explorer(Target(name), 2).explore(Faults(pause=1))
    found = {finding.name: finding for finding in report.findings}
    *_, before, last = found["lock deleted by another"].trace
    assert str(before.shown["lock"]).startswith("token-")
    assert last.actor not in str(before.shown["lock"])
    assert last.shown["lock"] == ""
