"""Many targets at once, each in a process: reports come in the order of the questions."""

from __future__ import annotations

import pytest

from app.domain import ShopError
from app.explorer.explore import Explorer
from app.explorer.faults import Faults
from app.explorer.survey import survey
from app.explorer.targets import Target, explorable

CASES = [Faults(), Faults(crash=1)]


def test_as_one_by_one() -> None:
    targets = [Target("atomic"), Target("lock:lease"), Target("naive")]
    reports = survey(targets, 2, CASES)
    assert [(report.target, report.faults) for report in reports] == [
        (target, case) for target in targets for case in CASES
    ]
    for report in reports:
        alone = Explorer(report.target, 2).explore(report.faults)
        assert (report.states, report.schedules) == (alone.states, alone.schedules)
        assert report.findings == alone.findings


def test_what_is_too_much_says_so() -> None:
    assert not survey([Target("naive")], 2, [Faults(crash=1)], most=10)[0].exhaustive
    with pytest.raises(ShopError, match="within 0 s"):
        survey([Target("naive")], 2, CASES, limit=0.0)


def test_all_that_can_be_explored() -> None:
    names = explorable()
    assert {"naive", "atomic", "lock:setnx", "lock:redlock", "lock:queue"} <= set(names)
    assert not {"lock", "sql", "sql_lock", "lock:db_unique", "lock:zookeeper"} & set(names)
