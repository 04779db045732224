"""States of the search, the steps between them, and the faults that may still come.

The faults themselves are in badluck/faults/; the search knows none of them by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, Self

from badluck.actor.request import Send
from badluck.search.names import Names

BEGINNING = 0  # an actor's first node
CRASHED = -1  # in place of an actor's node
NONE = -1  # in place of the servers' state
BY_ITSELF = ("goes", "time", "arrives")  # kinds of steps that need no fault
ORDINARY = frozenset({"goes", "time", "arrives", "again"})  # kinds of steps that are not faults
ALL_ACTORS = -1  # in place of an actor


class SystemState(NamedTuple):
    servers: int  # the number of their state
    nodes: tuple[int, ...]  # one for each actor
    left: Budget  # of faults
    before: int  # the servers before the last write, while a failover may lose it; else NONE
    in_flight: tuple[Send, ...]  # the clients have given up; they may still arrive
    late: frozenset[int] = frozenset()  # actors whose next step another's sleep has outlasted

    def sent_by(self, name: str) -> list[Send]:
        """Return the actor's commands in flight."""
        return [sent for sent in self.in_flight if sent.connection[1] == name]


class Transition(NamedTuple):
    """One step from one state to another."""

    kind: str  # the name of a fault, or goes, time, arrives; again: it starts again (starvation)
    actor: int  # or ALL_ACTORS
    fiber: int  # of the actor; of an arriving command, which of those in flight
    to: int  # number of the state
    names: Names = ()  # the actors' names there, by their names here; (): the same
    behind: int = 0  # ms; the state is the same again, and so much later than its clock says


class FaultEffect(NamedTuple):
    """The effect of a fault on a state; the budget has then one fault less."""

    actor: int  # the actor that it hit, or ALL_ACTORS
    fiber: int
    servers: int
    nodes: tuple[int, ...]
    before: int
    in_flight: tuple[Send, ...]


class SearchFault(Protocol):
    @property
    def name(self) -> str:
        """Return the kind of its transitions."""

    def apply(self, graph: Any, state: SystemState) -> Iterator[FaultEffect]:
        """Yield all effects that it can have on this state of the `graph`, a Graph."""


class Budget(Protocol):
    """How many faults may still happen; hashable, and equal for equal numbers of each kind."""

    def possible(self) -> Sequence[tuple[SearchFault, Self]]:
        """Return possible faults, each with the budget after it."""

    @property
    def forgets(self) -> bool:
        """May any of them lose the last write, so that the state before it must be kept?"""

    def spent_on_the_gone(self, start: Self) -> bool:
        """Have all faults since `start` hit only actors that have crashed?"""
