"""States that differ only by the actors' names are one: actors run the same code.

Of all the states that differ by an exchange of names, one stands for all of them. Three actors make
six of most states, four make twenty-four.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, permutations, product

from badluck.actor.request import Send
from badluck.search.behaviour import Known
from badluck.search.names import Names
from badluck.search.server_states import ServerStates

Places = tuple[int, ...]  # each actor's node; below 0: none
InFlight = tuple[Send, ...]


class Symmetry:
    """Exchanges names in servers' states and nodes, and finds the state that stands for others."""

    def __init__(self, servers: ServerStates, automata: Sequence[Known]) -> None:
        """Take the automata of actors that do the same work."""
        self.servers = servers
        self.automata = automata
        self.nodes: dict[tuple[int, int, Names], int] = {}
        self.ranks: dict[tuple[int, int], int] = {}
        self.sorted: dict[Places, list[tuple[Names, Places]]] = {}
        self.unchanged = tuple(range(len(automata)))
        self.as_first = [
            [names for names in permutations(self.unchanged) if names[actor] == 0]
            for actor in self.unchanged
        ]

    def standing_for(
        self, servers: int, nodes: Places, before: int, in_flight: InFlight
    ) -> tuple[int, Places, int, InFlight, Names]:
        """Return the state that stands for this one, and the names that lead to it."""
        choices = self.sorted.get(nodes)
        if choices is None:
            choices = self.sorted[nodes] = list(self._sorting(nodes))
        candidates = [
            (
                self._world(servers, names),
                placed,
                self._world(before, names),
                self._sent(in_flight, names),
                names,
            )
            for names, placed in choices
        ]
        return candidates[0] if len(candidates) == 1 else min(candidates)

    def _sorting(self, nodes: Places) -> Iterator[tuple[Names, Places]]:
        """Yield names by which actors are sorted by their nodes; many, where some are equal."""
        ranks = [self._rank(actor, node) for actor, node in enumerate(nodes)]
        order = sorted(self.unchanged, key=ranks.__getitem__)
        ties = [list(tied) for _, tied in groupby(order, key=ranks.__getitem__)]
        for choice in product(*map(permutations, ties)):
            names = [0] * len(nodes)
            for new, old in enumerate(old for tied in choice for old in tied):
                names[old] = new
            yield tuple(names), self._placed(nodes, tuple(names))

    def apply(
        self, servers: int, nodes: Places, before: int, in_flight: InFlight, names: Names
    ) -> tuple[int, Places, int, InFlight]:
        """Return the same state, under other names."""
        return (
            self._world(servers, names),
            self._placed(nodes, names),
            self._world(before, names),
            self._sent(in_flight, names),
        )

    def _sent(self, in_flight: InFlight, names: Names) -> InFlight:
        return tuple(sorted(self.servers.rename(in_flight, names))) if in_flight else ()

    def _world(self, servers: int, names: Names) -> int:
        """Return the same servers under other names; below 0, for none, it stays as it is."""
        if servers < 0 or names == self.unchanged:
            return servers
        return self.servers.renamed(servers, names)

    def _placed(self, nodes: Places, names: Names) -> Places:
        placed = [0] * len(nodes)
        for actor, node in enumerate(nodes):
            placed[names[actor]] = self._node(actor, node, names)
        return tuple(placed)

    def _rank(self, actor: int, node: int) -> int:
        """Return a number of a node that no exchange of names changes."""
        if node < 0:
            return node
        key = (actor, node)
        if key not in self.ranks:
            self.ranks[key] = min(self._node(actor, node, names) for names in self.as_first[actor])
        return self.ranks[key]

    def _node(self, actor: int, node: int, names: Names) -> int:
        """Return the node of the actor with the new name, after the same answers in new names."""
        if node < 0:
            return node
        key = (actor, node, names)
        if key not in self.nodes:
            other = self.automata[names[actor]]
            at = 0
            for answer in self.automata[actor].history(node):
                answer_renamed = self.servers.rename(answer.reply, names)
                at = other.move(at, answer.fiber, answer_renamed, answer.now, answer.taken).to
            self.nodes[key] = at
        return self.nodes[key]
