"""The states of a search, numbered in the order in which they were found; 0 is the beginning.

A state: the servers', each actor's position in its code, and the faults that are still allowed.
Equal states continue alike, however they came about. So each is explored once, and a few states
stand for millions of schedules. With a Symmetry, states are also equal when they differ only by the
actors' names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

from badluck.actor.request import Send
from badluck.search.behaviour import Known, Node
from badluck.search.names import Names
from badluck.search.server_states import ServerStates
from badluck.search.state import CRASHED, Budget, SystemState, Transition
from badluck.search.symmetry import Symmetry

# States, so that all stays under 1 GiB. Measured in MiB for each 100,000 of them: 250 for queue and
# watchdog, 400 for the hungriest, redlock with four actors and redis-py's retries.
MAX_STATES = 200_000


class TooMany(Exception):
    """More states than were allowed."""


class StateTable:
    def __init__(
        self,
        servers: ServerStates,
        automata: Sequence[Known],
        most: int,
        symmetry: Symmetry | None,
    ) -> None:
        self.servers = servers
        self.automata = automata
        self.most = most
        self.symmetry = symmetry
        self.states: list[SystemState] = []
        # For each state met, the number of the state that stands for it, and the renaming.
        self.numbers: dict[
            tuple[Budget, int, tuple[Send, ...], frozenset[int]],
            dict[tuple[int, tuple[int, ...]], tuple[int, Names]],
        ] = defaultdict(dict)  # by all but servers and nodes, then by those two
        self.edges: list[list[Transition]] = []
        self._over: dict[tuple[int, ...], bool] = {}
        self.later: dict[int, list[int]] = defaultdict(list)  # clock -> states to explore then

    def _number(
        self,
        servers: int,
        nodes: tuple[int, ...],
        left: Budget,
        before: int,
        in_flight: tuple[Send, ...],
        late: frozenset[int] = frozenset(),
    ) -> tuple[int, Names]:
        """Return the number of the state that stands for this one, and the renaming to it."""
        known = self.numbers[left, before, in_flight, late].get((servers, nodes))
        return known or self._new(SystemState(servers, nodes, left, before, in_flight, late))

    def _new(self, state: SystemState) -> tuple[int, Names]:
        """Number a state that was not met in this form before."""
        key, numbers = state[:2], self.numbers[state[2:]]
        names: Names = ()
        if self.symmetry:
            servers, nodes, left, before, in_flight, late = state
            representative = self.symmetry.standing_for(servers, nodes, before, in_flight)
            servers, nodes, before, in_flight, names = representative
            late = frozenset(names[actor] for actor in late)
            state = SystemState(servers, nodes, left, before, in_flight, late)
        standing = self.numbers[state[2:]]
        known = standing.get(state[:2])
        if known is None:
            if len(self.states) >= self.most:
                raise TooMany
            known = standing[state[:2]] = len(self.states), ()
            self.states.append(state)
            self.edges.append([])
            self.later[self.servers.now(state.servers)].append(known[0])
        if numbers is standing and key == state[:2]:
            return known
        numbers[key] = known[0], names
        return numbers[key]

    def called(self, state: SystemState, names: Names) -> SystemState:
        """Return the state with these names of the actors."""
        if self.symmetry is None:
            return state
        servers, nodes, left, before, in_flight, late = state
        changed = self.symmetry.apply(servers, nodes, before, in_flight, names)
        return SystemState(
            *changed[:2], left, *changed[2:], frozenset(names[actor] for actor in late)
        )

    def took(self, number: int, edge: Transition) -> int:
        """Return how long that step takes, in ms."""
        return self._now(edge.to) + edge.behind - self._now(number)

    def _now(self, number: int) -> int:
        return self.servers.now(self.states[number].servers)

    def alive(self, state: SystemState) -> Iterator[tuple[int, Node]]:
        """Yield the actors that have not crashed, with their nodes."""
        for actor, at in enumerate(state.nodes):
            if at != CRASHED:
                yield actor, self.automata[actor].nodes[at]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the actors' names."""
        return tuple(automaton.name for automaton in self.automata)

    def undisturbed(self, state: SystemState) -> bool:
        """Has no fault led here?"""
        return state.left == self.states[0].left

    def over(self, state: SystemState) -> bool:
        """Has every actor ended, and is nothing in flight?"""
        if state.in_flight:
            return False
        known = self._over.get(state.nodes)
        if known is None:
            known = self._over[state.nodes] = all(node.ended for _, node in self.alive(state))
        return known
