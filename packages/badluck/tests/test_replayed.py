"""A step whose reply depends on the server counts as the same; any other difference does not."""

from __future__ import annotations

import pytest
from badluck.report.replay import ReplayedStep
from badluck.report.trace import Step

TAKEN = Step("A", 0, "goes", 0, ["SET fence 1900000000000001"], ["1900000000000001"], "", {})


@pytest.mark.parametrize(
    ("said", "same"),
    [
        ("1900000000000001", True),
        ("1900000000000999", True),
        ("1900000000001000", True),  # it was at 999 µs when an earlier client took the number
        ("1900000000001001", False),
        ("1899999999999001", False),  # a value that is no time is compared as it is
    ],
)
def test_a_number_taken_from_the_clock_may_differ_by_less_than_a_millisecond(
    said: str, same: bool
) -> None:
    assert ReplayedStep(TAKEN, TAKEN._replace(replies=[said])).same is same
    assert ReplayedStep(TAKEN, TAKEN._replace(lines=[f"SET fence {said}"])).same is same


def test_of_an_error_the_first_word_counts() -> None:
    refused = TAKEN._replace(replies=["(OOM command not allowed)"])
    assert ReplayedStep(refused, TAKEN._replace(replies=["(OOM not now)"])).same
    assert not ReplayedStep(refused, TAKEN._replace(replies=["(MISCONF not now)"])).same
