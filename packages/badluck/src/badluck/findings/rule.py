"""What can be wrong: each rule has a name, says what that means, and looks at one kind of place.

Nothing that the explored code says of itself is evidence: what a rule is shown was read from the
store's keys, and what an actor was told is what it was told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from badluck.actor.request import Request
from badluck.search.state import State, Transition

if TYPE_CHECKING:
    from badluck.findings.judge import Judge
    from badluck.search.paths import Goal


class Answers(NamedTuple):
    """What can be seen of the actors who live."""

    words: tuple[tuple[str, str], ...]  # by name, what each was told who has come to an end
    inside: int  # how many are in a critical section
    over: bool  # have all come to an end?


class View(NamedTuple):
    """A state, as far as the faults that led to it do not matter."""

    target: Any
    book: Any  # what the target read in the store
    answers: Answers


class Ending(NamedTuple):
    """A state in which all have come to an end, and what excuses it."""

    view: View
    undisturbed: bool  # no fault has led here
    calm: bool  # nothing has happened to those who are left; others may have crashed


class StepView:
    """A step from one state to another; looked up only as far as a rule asks."""

    __slots__ = ("before", "judge", "state", "way")

    def __init__(self, judge: Judge, state: State, way: Transition, before: Any) -> None:
        """`before` is what the target reads in the store of `state`, from which it leads."""
        self.judge = judge
        self.state = state
        self.way = way
        self.before = before

    @property
    def target(self) -> Any:
        return self.judge.target

    @property
    def after(self) -> Any:
        return self.judge.book(self.judge.graph.states[self.way.to].servers)

    @property
    def mover(self) -> str:
        """The actor's name; only of steps that are an actor's."""
        return self.judge.names[self.way.actor]

    @property
    def asked(self) -> Request:
        """What the actor had waited for, or of what arrives what it had sent."""
        if self.way.kind == "arrives":
            return self.state.sent_by(self.mover)[self.way.fiber]
        at = self.state.nodes[self.way.actor]
        return self.judge.graph.automata[self.way.actor].nodes[at].requests[self.way.fiber]

    def afterwards(self, value: bytes) -> bytes:
        """A value of before, by the names that actors have after the step."""
        found: bytes = self.judge.graph.servers.rename(value, self.way.names)
        return found


@dataclass(frozen=True)
class Rule:
    """By itself, of what only a look at the whole graph can tell."""

    name: str
    explanation: str  # one sentence


@dataclass(frozen=True)
class StateRule(Rule):
    """Wrong wherever it is the case, whatever faults led there."""

    wrong: Callable[[View], bool]
    because: Callable[[View], str] | None = None  # more of it, where it is wrong


@dataclass(frozen=True)
class EndRule(Rule):
    """Of an end that a fault would excuse."""

    wrong: Callable[[Ending], bool]


@dataclass(frozen=True)
class GraphRule(Rule):
    """Wrong are places, states or steps, that only a look at all that led there can tell."""

    where: Callable[[Judge], set[Goal]]


@dataclass(frozen=True)
class StepRule(Rule):
    """Wrong is the step itself, not the state that it leads to."""

    kinds: tuple[str, ...]  # of steps that it looks at: goes, arrives, time …
    wrong: Callable[[StepView], bool]
