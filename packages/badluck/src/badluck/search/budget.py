"""What the search asks of faults: how many may still come, and what each makes of a state.

The faults themselves stand in badluck/faults/; the search knows none of them by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

from badluck.actor.request import Send

if TYPE_CHECKING:
    from badluck.search.graph import Graph, State

EVERYBODY = -1  # in place of an actor


class FaultEffect(NamedTuple):
    """What a fault leads to from some state; the budget has then one fault less."""

    actor: int  # whom it befell, or EVERYBODY
    fiber: int
    servers: int
    nodes: tuple[int, ...]
    before: int
    in_flight: tuple[Send, ...]


class SearchFault(Protocol):
    @property
    def name(self) -> str:
        """The kind of the transitions that it makes."""

    def apply(self, graph: Graph, state: State) -> Iterator[FaultEffect]:
        """All that it can do to this state."""


class Budget(Protocol):
    """How many faults may still happen; hashable, and equal where as many of each may."""

    def possible(self) -> Sequence[tuple[SearchFault, Self]]:
        """Those that may, each with what is left after it."""

    @property
    def forgets(self) -> bool:
        """May any of them lose the last write, so that it must be known what was before it?"""

    def spent_on_the_gone(self, start: Self) -> bool:
        """Has, since `start`, nothing befallen those who are left?"""
