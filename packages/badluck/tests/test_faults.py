"""Each fault that is counted has its words, and the other way round."""

from __future__ import annotations

from badluck.faults import FAULTS, Faults


def test_the_table_is_of_all_that_are_counted() -> None:
    assert tuple(FAULTS) == Faults._fields


def test_no_two_are_written_alike() -> None:
    letters = [fault.letter for fault in FAULTS.values()]
    assert len({*letters, "t", "a", ""}) == len(letters) + 3
