"""Rules: each has a name and an explanation, and checks states, ends, steps or the graph.

Nothing that the explored code claims is evidence. A rule sees values that were read from the
store's keys, and the outcomes of actors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from badluck.actor.request import Request
from badluck.search.graph import Graph
from badluck.search.paths import Goal
from badluck.search.state import SystemState, Transition


class Answers(NamedTuple):
    """Outcomes and positions of the actors that have not crashed."""

    words: tuple[tuple[str, str], ...]  # outcomes of the actors that have ended, by name
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


class StepView(NamedTuple):
    """A step from one state to another; looked up only as far as a rule asks."""

    target: Any
    graph: Graph
    book: Callable[[int], Any]  # of the servers' state of that number
    state: SystemState  # from which it leads
    step: Transition
    before: Any  # what the target reads in the store of `state`

    @property
    def after(self) -> Any:
        return self.book(self.graph.states[self.step.to].servers)

    @property
    def mover(self) -> str:
        """The actor's name; only of steps that are an actor's."""
        return self.graph.names[self.step.actor]

    @property
    def asked(self) -> Request:
        """The request that the actor waited on, or the command that arrives."""
        if self.step.kind == "arrives":
            return self.state.sent_by(self.mover)[self.step.fiber]
        at = self.state.nodes[self.step.actor]
        return self.graph.automata[self.step.actor].nodes[at].requests[self.step.fiber]

    def afterwards(self, value: bytes) -> bytes:
        """A value of before, by the names that actors have after the step."""
        renamed: bytes = self.graph.servers.rename(value, self.step.names)
        return renamed


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
    """A rule about an end that a fault would excuse."""

    wrong: Callable[[Ending], bool]


@dataclass(frozen=True)
class GraphRule(Rule):
    """Wrong are places, states or steps, that only a look at all that led there can tell."""

    where: Callable[[Any], set[Goal]]  # of a Judge


@dataclass(frozen=True)
class StepRule(Rule):
    """Wrong is the step itself, not the state that it leads to."""

    kinds: tuple[str, ...]  # of steps that it looks at: goes, arrives, time …
    wrong: Callable[[StepView], bool]
