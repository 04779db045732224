"""Actors that others can keep from buying forever without doing anything wrong."""

from __future__ import annotations

import pytest
from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.report.verdict import budget, verdict

from app.explorer.targets import Target


@pytest.mark.parametrize("buyers", [2, 3])
@pytest.mark.parametrize("name", ["atomic", "decr", "fused"])
def test_never_starved(name: str, buyers: int) -> None:
    """A script is done or not; in a line every waiter's turn comes."""
    report = Explorer(Target(name), buyers).starve()
    assert report.exhaustive
    assert report.findings == []


@pytest.mark.parametrize(
    "name", ["lock:setnx", "lock:lease", "lock:watchdog", "lock:fenced", "watched", "fenced"]
)
def test_whoever_polls_may_find_it_taken_each_time(name: str) -> None:
    starved = Explorer(Target(name), 2).starve().findings[0]
    assert starved.name == "starved"
    asked = [step for step in starved.trace if step.actor == "A"]
    assert [step.replies for step in asked] in ([["nil"]], [["0"]])
    assert starved.trace[-1].does == "again"
    sold = [step for step in starved.trace if step.outcome == "SOLD"]
    assert len(sold) >= 1
    # Once around: it ends as it was when B came again for the first time.
    first = next(step for step in starved.trace if step.does == "again")
    assert starved.trace[-1]._replace(at=0) == first._replace(at=0)


def test_who_loses_every_race_gives_up() -> None:
    starved = Explorer(Target("watch"), 2).starve().findings[0]
    assert [step.outcome for step in starved.trace if step.actor == "A" and step.outcome] == [
        "BUSY"
    ]
    assert [step.replies[-1] for step in starved.trace if step.actor == "A"].count("nil") == 2


def test_the_answer_is_to_what_was_asked() -> None:
    """The question was not whether anything else goes wrong."""
    explorer = Explorer(Target("lock:queue"), 2)
    report = explorer.starve()
    said = [verdict(report), *budget(report)]
    assert said[0].startswith("lock:queue: no buyer can be starved.")
    assert "all but A come again and again, each time to a full shelf" in said[1]
    assert report.document()["again"] is True
    ordinary = explorer.explore(Faults())
    assert "again and again" not in verdict(ordinary) + next(budget(ordinary))
    assert ordinary.document()["again"] is False


def test_not_all_looked_at_is_not_clean() -> None:
    report = Explorer(Target("lock:queue"), 3).starve(most=50)
    assert report.document()["inconclusive"]
