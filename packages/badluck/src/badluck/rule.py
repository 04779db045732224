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
    over: bool  # have all actors ended?


class View(NamedTuple):
    """A state, as far as the faults that led to it do not matter."""

    target: Any
    book: Any  # the target's view of the store
    answers: Answers


class Ending(NamedTuple):
    """A state in which all actors have ended, and the excuses for a broken rule."""

    view: View
    undisturbed: bool  # no fault has led here
    calm: bool  # no fault has hit the living actors; others may have crashed


class StepView(NamedTuple):
    """A step from one state to another; looked up only as far as a rule asks."""

    target: Any
    graph: Graph
    book: Callable[[int], Any]  # the view of the servers' state with that number
    state: SystemState  # the state before the step
    step: Transition
    before: Any  # the target's view of the store in `state`

    @property
    def after(self) -> Any:
        return self.book(self.graph.states[self.step.to].servers)

    @property
    def mover(self) -> str:
        """Return the actor's name; only for steps of an actor."""
        return self.graph.names[self.step.actor]

    @property
    def asked(self) -> Request:
        """The request that the actor waited on, or the command that arrives."""
        if self.step.kind == "arrives":
            return self.state.sent_by(self.mover)[self.step.fiber]
        at = self.state.nodes[self.step.actor]
        return self.graph.automata[self.step.actor].nodes[at].requests[self.step.fiber]

    def afterwards(self, value: bytes) -> bytes:
        """Return a value from before the step with the actors' names after it."""
        renamed: bytes = self.graph.servers.rename(value, self.step.names)
        return renamed


@dataclass(frozen=True)
class Rule:
    """A rule; used by itself only if it needs a look at the whole graph."""

    name: str
    explanation: str  # one sentence


@dataclass(frozen=True)
class StateRule(Rule):
    """A rule about states, whatever faults led there."""

    wrong: Callable[[View], bool]
    because: Callable[[View], str] | None = None  # a further explanation, where it is broken


@dataclass(frozen=True)
class EndRule(Rule):
    """A rule about an end that a fault would excuse."""

    wrong: Callable[[Ending], bool]


@dataclass(frozen=True)
class GraphRule(Rule):
    """A rule about states or steps that needs all paths to them."""

    where: Callable[[Any], set[Goal]]  # of a Judge


@dataclass(frozen=True)
class StepRule(Rule):
    """A rule about a step itself, not about the state after it."""

    kinds: tuple[str, ...]  # kinds of steps that it checks: goes, arrives, time …
    wrong: Callable[[StepView], bool]
