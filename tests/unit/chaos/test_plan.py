"""Same seed, same plan; and a plan that leaves nothing out."""

from __future__ import annotations

import pytest

from loadtest.chaos import ChaosFailed
from loadtest.chaos.faults import STRIKES, list_possible_faults
from loadtest.chaos.history import Kind, Part
from loadtest.chaos.plan import LONGEST, act
from loadtest.chaos.run import list_modes, parse_modes

TARGETS = list_possible_faults(postgresql=False)


def test_the_same_seed_is_the_same_plan() -> None:
    modes = list_modes(False)
    acts = [act(7, number, modes, TARGETS) for number in range(20)]
    assert acts == [act(7, number, modes, TARGETS) for number in range(20)]
    assert acts != [act(8, number, modes, TARGETS) for number in range(20)]


def test_every_mode_has_its_turn_and_every_fault_its_strike() -> None:
    modes = list_modes(False)
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
    postgresql = set(list_possible_faults(postgresql=True))
    assert (Kind.KILL, Part.DATABASE) in postgresql
    assert (Kind.KILL, Part.DATABASE) not in TARGETS
    assert postgresql | set(TARGETS) <= set(STRIKES)


def test_ways_are_chosen_by_name() -> None:
    assert parse_modes("atomic, lock:lease", False) == ["atomic", "lock:lease"]
    assert {"sql_units"} == set(parse_modes("", True)) - set(parse_modes("", False))
    assert "naive" not in parse_modes("", False)
    assert not {way for way in parse_modes("", False) if way.startswith("lock:setnx")}
    with pytest.raises(ChaosFailed, match="no 'lock'"):
        parse_modes("lock", False)
