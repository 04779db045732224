"""The explorer finds what is broken, and nothing where nothing is."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache

import pytest
from badluck.faults import Faults
from badluck.report.report import Report

from app.explorer.targets import Target
from tests.unit.explorer.mutants import (
    atomic,
    decr,
    fenced,
    holds,
    lease,
    limits,
    queue,
    queue_scripts,
    repair,
    undetected,
    watch,
    watchdog,
    watched,
)
from tests.unit.explorer.mutants.mutant import Budget, Mutant, explored, planted, wrong

CATALOGUE = [
    *(*watch.MUTANTS, *atomic.MUTANTS, *decr.MUTANTS, *lease.MUTANTS, *watchdog.MUTANTS),
    *(*watched.MUTANTS, *fenced.MUTANTS, *queue_scripts.MUTANTS, *queue.MUTANTS),
    *(*limits.MUTANTS, *holds.MUTANTS, *repair.MUTANTS),
]
UNFOUND = [*undetected.MISSED, *undetected.HARMLESS]
BUDGETS = list(dict.fromkeys(mutant.budget for mutant in [*CATALOGUE, *UNFOUND]))
# Findings of the real code in those budgets, as its modules' texts say under "Breaks".
TOO_LATE = {"oversell", "two holders"}  # all actors are paused for longer than the lease
NO_ANSWER = {"phantom order"}  # the reply to the write is lost
BREAKS = {
    ("lock:lease", "pause"): TOO_LATE,
    ("lock:watchdog", "pause"): TOO_LATE,
    ("lock:queue", "pause"): TOO_LATE,
    ("watch", "lost"): NO_ANSWER,
    ("fused", "lost"): NO_ANSWER,
}


@cache
def unbroken(budget: Budget) -> Report:
    return explored(budget)


def words(budget: Budget) -> str:
    """Return `lock:queue think=15000 pause=1 buyers=3`: what differs from the defaults."""
    usual = type(budget.target)(budget.target.name)
    parts = {**asdict(budget.target), **budget.faults._asdict(), "buyers": budget.buyers}
    usually = {**asdict(usual), **Faults()._asdict(), "buyers": 2}
    odd = [f"{name}={value}" for name, value in parts.items() if usually[name] != value]
    holds = [] if type(usual) is Target else ["holds"]
    return " ".join([usual.name, *holds, *odd])


def names(mutants: list[Mutant]) -> list[str]:
    return [mutant.name for mutant in mutants]


def new_findings(mutant: Mutant) -> set[str]:
    whole = wrong(unbroken(mutant.budget))
    with planted(mutant):
        return wrong(explored(mutant.budget)) - whole


@pytest.mark.parametrize("mutant", CATALOGUE, ids=names(CATALOGUE))
def test_found(mutant: Mutant) -> None:
    assert mutant.finding in new_findings(mutant)


@pytest.mark.parametrize("mutant", UNFOUND, ids=names(UNFOUND))
def test_not_found(mutant: Mutant) -> None:
    """A mutant that is found belongs in the catalogue."""
    assert new_findings(mutant) == set()


def test_the_share() -> None:
    assert len(CATALOGUE) >= 40
    assert len(set(names([*CATALOGUE, *UNFOUND]))) == len([*CATALOGUE, *UNFOUND])
    assert len(CATALOGUE) / (len(CATALOGUE) + len(undetected.MISSED)) >= 0.95


@pytest.mark.parametrize("budget", BUDGETS, ids=words)
def test_no_false_alarm(budget: Budget) -> None:
    target = budget.target.name
    kinds = [kind for kind, count in budget.faults._asdict().items() if count]
    expected: set[str] = set().union(*(BREAKS.get((target, kind), set()) for kind in kinds))
    report = unbroken(budget)
    assert report.exhaustive
    assert wrong(report) == expected


def test_a_mutant_that_no_longer_applies_fails() -> None:
    mutant = CATALOGUE[0]
    for old in ("this stands nowhere", "order: Order"):
        with (
            pytest.raises(ValueError, match="adapt the mutant"),
            planted(mutant._replace(old=old)),
        ):
            pass


def test_a_mutant_is_gone_afterwards() -> None:
    for mutant in (watch.MUTANTS[0], queue_scripts.MUTANTS[0]):
        before = explored(mutant.budget).states
        with planted(mutant):
            assert explored(mutant.budget).states != before
        assert explored(mutant.budget).states == before
