"""The fixture: a search that fails its test, and first what was found before."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import pytest

from badluck.errors import BadluckError
from badluck.functions.explore import explore
from badluck.functions.result import ExploreResult
from badluck.plugin import saved_schedule
from badluck.plugin.call import ExploreCall

DEFAULTS = ("faults", "seconds")


class TestNotes(NamedTuple):
    """By one test, to whoever reports on it; plain values only: xdist sends them on."""

    notes: list[str]
    annotation: str = ""  # for GitHub, if the test fails
    played: bool = False  # was there what --badluck-replay is to play?


class Badluck:
    """Of one test."""

    def __init__(self, item: pytest.Item) -> None:
        self.item = item
        self.asked = 0  # calls, also in its fixtures
        self.calls: list[ExploreCall] = []  # of which nobody was told yet

    def explore(self, *, allow_inconclusive: bool = False, **question: Any) -> ExploreResult:
        """As badluck.explore(), and the test fails unless it holds.

        A schedule that was saved for this call of this test is tried first. Where the test does
        not say `faults` or `seconds`, --badluck-faults and --badluck-seconds do. With
        `allow_inconclusive` it is enough that nothing was found in the time.
        """
        __tracebackhide__ = True
        self.asked += 1
        name = saved_schedule.call_id(self.item, self.asked)
        call = ExploreCall(self.item.config, name, sys._getframe(1).f_lineno)
        self.calls.append(call)
        for option in DEFAULTS:
            given = self.item.config.getoption(f"--badluck-{option}")
            if given is not None:
                question.setdefault(option, given)
        try:
            result = explore(**question, before=call.before)
            call.judge(result, allow_inconclusive)
        except BadluckError as error:
            failed = str(error)
        else:
            print(result)  # pytest -rP shows what a test that passed has proved
            return result
        return call.fail(failed)

    def told(self) -> TestNotes:
        """By all calls, once."""
        calls, self.calls = self.calls, []
        return TestNotes(
            [note for call in calls for note in call.notes],
            calls[-1].annotation if calls else "",
            any(call.played for call in calls),
        )
