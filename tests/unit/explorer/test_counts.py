"""Numbers of schedules: counted by hand, or by another program."""

from __future__ import annotations

import pytest
from badluck.explorer import Explorer
from badluck.faults import Faults

from app.explorer.targets import Target


@pytest.mark.parametrize(
    ("target", "buyers", "schedules"),
    [
        ("atomic", 2, 2),  # one script each: 2!
        ("atomic", 3, 6),  # 3!
        ("atomic", 4, 24),  # 4!
        ("watch", 2, 20),  # counted by a search of every order on a real server
        ("watch", 3, 23_316),
        ("watch", 4, 387_755_520),
    ],
)
def test_without_faults(target: str, buyers: int, schedules: int) -> None:
    report = Explorer(Target(target), buyers).explore(Faults())
    assert report.exhaustive
    assert report.schedules == schedules
    assert report.findings == []


def test_too_many_states_are_inconclusive_never_clean() -> None:
    report = Explorer(Target("watch"), 3).explore(Faults(), most=50)
    assert not report.exhaustive
    assert report.document()["inconclusive"]
    assert report.schedules is None
