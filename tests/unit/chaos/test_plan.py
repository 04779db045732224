"""Same seed, same plan; and a plan that leaves nothing out."""

from __future__ import annotations

import pytest

from loadtest.chaos import ChaosFailed, ways
from loadtest.chaos.faults import STRIKES, possible
from loadtest.chaos.plan import LONGEST, act
from loadtest.chaos.words import Kind, Where

TARGETS = possible(postgresql=False)


def test_the_same_seed_is_the_same_plan() -> None:
    modes = ways.sound(False)
    acts = [act(7, number, modes, TARGETS) for number in range(20)]
    assert acts == [act(7, number, modes, TARGETS) for number in range(20)]
    assert acts != [act(8, number, modes, TARGETS) for number in range(20)]


def test_every_mode_has_its_turn_and_every_fault_its_strike() -> None:
    modes = ways.sound(False)
    acts = [act(7, number, modes, TARGETS) for number in range(60)]
    played = {round.mode for one in acts for _, rounds in one.lanes for round in rounds}
    assert played == set(modes)
    assert {(step.kind, step.where) for one in acts for step in one.steps} == set(TARGETS)


def test_nothing_stays_broken_beyond_the_longest() -> None:
    steps = [step for number in range(60) for step in act(7, number, ["atomic"], TARGETS).steps]
    assert max(step.seconds for step in steps) <= LONGEST
    leases = [r.lease for _, rounds in act(7, 1, ["fenced"], TARGETS).lanes for r in rounds]
    freezes = [step.seconds for step in steps if step.kind is Kind.FREEZE]
    assert min(freezes) * 1000 > max(leases)


def test_a_database_decides_what_can_befall_it() -> None:
    postgresql = set(possible(postgresql=True))
    assert (Kind.KILL, Where.DATABASE) in postgresql
    assert (Kind.KILL, Where.DATABASE) not in TARGETS
    assert postgresql | set(TARGETS) <= set(STRIKES)


def test_ways_are_chosen_by_name() -> None:
    assert ways.chosen("atomic, lock:lease", False) == ["atomic", "lock:lease"]
    assert {"sql_units"} == set(ways.chosen("", True)) - set(ways.chosen("", False))
    assert "naive" not in ways.chosen("", False)
    assert not {way for way in ways.chosen("", False) if way.startswith("lock:setnx")}
    with pytest.raises(ChaosFailed, match="no 'lock'"):
        ways.chosen("lock", False)
