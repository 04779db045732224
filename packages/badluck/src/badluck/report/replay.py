"""Play a schedule again, with the same code, and check whether each step is the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from badluck.actor.actor import Actor
from badluck.actor.request import Done, Failed, Hear, Lost, Rest, Send, outcome
from badluck.backend import Backend
from badluck.faults import FAULTS
from badluck.faults.fault import StepText
from badluck.report.trace import Step, is_unheard
from badluck.target import EPOCH, Target

AS_BYTES = re.compile(r"\bb'(.*?)'")
TIME = re.compile(r"^\[(19\d{8}), (\d{1,6})\]$")  # its answer: seconds and µs
BELOW_MS = re.compile(r"(:\d\d\.\d{3})\d{3}\b")  # a time in a text
MICROSECONDS = re.compile(r"\b(19\d{14})\b")


@dataclass(frozen=True, eq=False)
class Microseconds:
    """Time since 1970. Below a millisecond servers differ in counting, as fencing tokens show."""

    count: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Microseconds) and abs(self.count - other.count) < 1000

    __hash__ = None  # type: ignore[assignment]  # of three, the first may be like both others alone


@dataclass(frozen=True)
class ReplayedStep:
    """`expected`: the trace's step; `got`: what happened."""

    expected: Step
    got: Step

    @property
    def same(self) -> bool:
        return _comparable(self.expected) == _comparable(self.got)


def replay(
    target: Target, names: Sequence[str], steps: Sequence[Step], backend: Backend
) -> list[ReplayedStep]:
    """Play all steps, up to the first difference."""
    played: list[ReplayedStep] = []
    with target.surroundings():
        backend.begin(EPOCH, target.setup())
        actors = {name: Actor(name, target.code, EPOCH) for name in names}
        in_flight: list[Send] = []
        try:
            for nth, step in enumerate(steps):
                got = StepReplay(target, actors, backend, in_flight, step).got()
                got = got._replace(outcome="") if is_unheard(steps, nth) else got
                played.append(ReplayedStep(step, got))
                if not played[-1].same:
                    break
        finally:
            for actor in actors.values():
                actor.drop()
    return played


@dataclass(frozen=True)
class StepReplay:
    """One step; see badluck.faults.fault for the methods that a fault uses."""

    target: Target
    actors: dict[str, Actor]
    backend: Backend
    in_flight: list[Send]
    step: Step

    def got(self) -> Step:
        """Return the step as it happened."""
        before = self._outcome()
        lines, replies = self._does()
        outcome = "" if before else self._outcome()
        shown = self.target.shown(self.target.book(*self.backend.stores()))
        return self.step._replace(lines=lines, replies=replies, outcome=outcome, shown=shown)

    def _outcome(self) -> str:
        """Return the outcome of an actor that has ended, also where a thread ended it."""
        if not self.step.actor or self.actor.over:
            return ""
        return outcome(self.actor.requests[0])

    def _does(self) -> StepText:
        does, unsaid = self.step.does, (self.step.lines, self.step.replies)
        if does == "goes":
            return self.go_on()
        if does == "arrives":
            return self._arrives()
        if does == "time":
            self.backend.pass_time(self.now)
        elif does == "again":
            self._comes_again()
        elif (words := FAULTS[does].play(self)) is not None:
            return words
        return unsaid

    @property
    def actor(self) -> Actor:
        return self.actors[self.step.actor]

    @property
    def now(self) -> int:
        return EPOCH + self.step.at

    def go_on(self, answered: bool = True) -> StepText:
        request = self._request()
        if isinstance(request, str):
            return [request], []
        answer: Any = None
        if isinstance(request, Send):
            answer = self.backend.send(*request)
        elif isinstance(request, Hear):
            answer = self.backend.hear(request.connection) or None
        words = self.target.code.words.of(request, answer)
        self._answer(answer if answered else Lost())
        for name in self.actor.closed:
            self.backend.close(name)
        return words

    def give_up(self) -> StepText:
        request = self._request()
        if not isinstance(request, Send):
            return [request if isinstance(request, str) else "it sends nothing"], []
        self.in_flight.append(request)
        self._answer(Lost())
        for name in self.actor.closed:
            if name != request.connection:
                self.backend.close(name)
        return self.target.code.words.of(request, ())

    def _request(self) -> Send | Hear | Rest | str:
        """Return the fiber's request; or the reason why there is none."""
        if self.actor.over:
            return "it has crashed"
        if self.step.fiber >= len(self.actor.fibers):
            return "it has no such thread"
        request = self.actor.requests[self.step.fiber]
        if isinstance(request, Done | Failed):
            return "it has ended"
        return request

    def _answer(self, answer: Any) -> None:
        self.actor.go_on(self.step.fiber, answer, self.now)

    def _arrives(self) -> StepText:
        """Execute a command in flight of a client that has given up; close its connection."""
        late = sorted(sent for sent in self.in_flight if sent.connection[1] == self.step.actor)
        if self.step.fiber >= len(late):
            return ["nothing is under way"], []
        sent = late[self.step.fiber]
        self.in_flight.remove(sent)
        answer = self.backend.send(*sent)
        self.backend.close(sent.connection)
        return self.target.code.words.of(sent, answer)

    def _comes_again(self) -> None:
        name = self.step.actor
        for connection in list(self.actor.open):
            self.backend.close(connection)
        self.actor.drop()
        self.actors[name] = Actor(name, self.target.code, self.now)
        self.backend.fill_up(self.target.filled_up)


def _comparable(step: Step) -> object:
    """Return a step without texts that differ between servers."""
    rest = step._replace(lines=[], replies=[], shown={})
    shown = {name: in_parts(str(value)) for name, value in step.shown.items()}
    return rest, [*map(_plain, step.lines)], [*map(_plain, step.replies)], shown


def _plain(text: str) -> object:
    # A status is bytes from a real server; older files do not distinguish bytes from other replies.
    text = AS_BYTES.sub(r"\1", text)
    # Of an error, the first word.
    return in_parts(text.partition(" ")[0] if text.startswith("(") else text)


def in_parts(text: str) -> list[str | Microseconds]:
    """Split a text into its times, which may differ by less than a millisecond, and the rest."""
    text = TIME.sub(lambda said: f"{said[1]}{int(said[2]):06}", BELOW_MS.sub(r"\1…", text))
    parts = MICROSECONDS.split(text)  # every other part is such a number
    return [Microseconds(int(part)) if nth % 2 else part for nth, part in enumerate(parts)]
