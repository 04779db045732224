"""The fixture: a search that fails its test, and first tries saved schedules."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, cast

import pytest

from badluck.errors import BadluckError
from badluck.frames.source_position import SourceLine
from badluck.functions.explore import explore
from badluck.functions.function_target import FunctionTarget
from badluck.functions.result import ExploreResult
from badluck.functions.search_process import FollowedSchedule, follow, replay
from badluck.functions.search_rounds import SearchRound
from badluck.plugin import messages, saved_schedule
from badluck.plugin.saved_schedule import CallId
from badluck.report.page import page
from badluck.report.report import Finding
from badluck.report.trace import faults_of

DEFAULTS = ("faults", "seconds")
MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
PROPERTY = {**MESSAGE, **str.maketrans({":": "%3A", ",": "%2C"})}


def error(file: str, line: int, title: str, message: str) -> str:
    """Return an annotation for GitHub; `file` is relative to the repository."""
    file, title = file.translate(PROPERTY), title.translate(PROPERTY)
    return f"::error file={file},line={line},title={title}::{message.translate(MESSAGE)}"


SERVERS = ("valkey-server", "redis-server")

Targets = Mapping[int, FunctionTarget]  # the targets of a call, by the number of actors


@dataclass
class ExploreCall:
    config: pytest.Config
    name: CallId
    line: int  # of the test's call
    notes: list[str] = field(default_factory=list)
    annotation: str = ""
    played: bool = False  # was it what --badluck-replay is to play?

    def before(self, targets: Targets, rungs: Sequence[SearchRound]) -> None:
        """Fail if the saved schedule still breaks the test. Raises BadluckError."""
        self._replay(targets)
        if not self.name.path.exists():
            return
        shown = self._from_here(self.name.path)
        saved = saved_schedule.read(self.name.path, shown)
        if (saved.test, saved.call) != (self.name.test, self.name.call):
            saved_schedule.refuse_other_call(saved, shown, self.name)
        target = _asked(targets, saved.actors)
        needs = SearchRound(len(target.actors), faults_of(saved.steps))
        if not any(map(needs.within, rungs)):
            self.notes.append(f"{self.name.test}: {messages.not_allowed(shown)}")
            return
        now = follow(target, saved.steps)
        if now.finding:
            text = messages.still_fails(target, now.finding, shown)
            self._found(target, now.finding, now, [text])
        self.notes.append(f"{self.name.test}: {messages.no_longer_fails(shown, saved.steps, now)}")

    def judge(self, result: ExploreResult, allow_inconclusive: bool) -> None:
        """Fail the test unless the result is "holds"."""
        if result.verdict == "inconclusive":
            if not allow_inconclusive:
                self.fail(f"{result}\n{messages.INCONCLUSIVE}")
            self.notes.append(f"{self.name.test}: inconclusive, which it allows.")
        if result.verdict == "fails":
            finding, target = result.report.findings[0], cast(FunctionTarget, result.report.target)
            try:
                saved_schedule.write(self.name, target.name, len(target.actors), finding)
                saved = (
                    f"saved, to be tried first and checked in: {self._from_here(self.name.path)}"
                )
            except OSError as failed:
                saved = f"not saved in {self._from_here(self.name.path)}: {failed.strerror}"
            now = follow(target, finding.trace)
            self._found(target, finding, now, [str(result), saved])

    def _found(
        self, target: FunctionTarget, finding: Finding, now: FollowedSchedule, lines: list[str]
    ) -> str:
        """Return the failure's text. `now` is the schedule followed with today's code, for its
        lines.
        """
        path = self.name.path
        node = f"{self._from_here(self.name.file)}{self.name.own}"
        file = shlex.quote(self._from_here(path))
        again = f"pytest {shlex.quote(node)} --badluck-replay={file}"
        html = path.with_suffix(".html")
        spots = now.spots if len(now.spots) == len(finding.trace) else []
        try:
            saved_schedule.replace(
                html, page(target, len(target.actors), finding, self.name.test, again, spots)
            )
            lines.append(f"to look at, and for a bug report: {self._from_here(html)}")
        except OSError as failed:
            lines.append(f"no page in {self._from_here(html)}: {failed.strerror}")
        if path.exists():
            lines.append(f"on a real server: {again}")
        self.fail("\n".join(lines), now.spots)

    def fail(self, text: str, spots: Sequence[SourceLine | None] = ()) -> NoReturn:
        """Fail with this text and without our own stack; on GitHub, at the last of the `spots`."""
        path, line = next(filter(None, reversed(spots)), (str(self.name.file), self.line))
        root = os.environ.get("GITHUB_WORKSPACE") or self.config.rootpath
        title = f"badluck: {self.name.test}"
        self.annotation = error(os.path.relpath(path, root), line, title, text)
        pytest.fail(text, pytrace=False)

    def _replay(self, targets: Targets) -> None:
        """Play it on a real server, if that was requested for this call. Fails then; raises
        BadluckError.
        """
        given: Path | None = self.config.getoption("--badluck-replay")
        if given is None:
            return
        file = self.config.invocation_params.dir / given
        shown = self._from_here(file)
        saved = saved_schedule.read(file, shown)
        if saved.test != self.name.test:
            pytest.skip(f"{shown} is of {saved.test}")
        if saved.call != self.name.call:
            return
        self.played = True
        target = _asked(targets, saved.actors)
        now = follow(target, saved.steps)
        if now.finding is None:
            text = f"{messages.no_longer_fails(shown, saved.steps, now)} Nothing was played."
            self.fail(text, now.spots)
        program = self._server()
        played = replay(target, now.steps, program)
        text = messages.replayed(shown, Path(program).name, played, now.finding)
        self.fail(text, now.spots)

    def _server(self) -> str:
        """Return the server's program. Raises BadluckError."""
        given: str | None = self.config.getoption("--badluck-server")
        program = next(filter(None, map(shutil.which, [given] if given else SERVERS)), None)
        if program is None:
            which = given or " or ".join(SERVERS)
            raise BadluckError(
                f"{which} cannot be found to play a schedule on: install one (apt install "
                "redis-server, brew install redis), or name it by --badluck-server=PROGRAM."
            )
        return program

    def _from_here(self, path: Path) -> str:
        return os.path.relpath(path, self.config.invocation_params.dir)


def _asked(targets: Targets, actors: int) -> FunctionTarget:
    """Return the target of so many actors, else the largest."""
    return targets.get(actors) or targets[max(targets)]


class ReportNotes(NamedTuple):
    """A test's notes for the report; plain values only, since xdist sends them on."""

    notes: list[str]
    annotation: str = ""  # for GitHub, if the test fails
    played: bool = False  # was there what --badluck-replay is to play?


class Badluck:
    """The fixture's value in one test."""

    def __init__(self, item: pytest.Item) -> None:
        self.item = item
        self.asked = 0  # calls, also in its fixtures
        self.calls: list[ExploreCall] = []  # not reported yet

    def explore(self, *, allow_inconclusive: bool = False, **question: Any) -> ExploreResult:
        """Call badluck.explore(); the test fails unless the result holds.

        A schedule that was saved for this call of this test is tried first. --badluck-faults and
        --badluck-seconds are the defaults of `faults` and `seconds`. With `allow_inconclusive` a
        search without a finding in its time passes.
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
            print(result)  # pytest -rP shows the rounds that a passing test has proved
            return result
        return call.fail(failed)

    def told(self) -> ReportNotes:
        """Return the notes of all calls, once."""
        calls, self.calls = self.calls, []
        return ReportNotes(
            [note for call in calls for note in call.notes],
            calls[-1].annotation if calls else "",
            any(call.played for call in calls),
        )
