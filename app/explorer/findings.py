"""What can go wrong, by the names that a teacher would use, and where in a graph it does.

Nothing that a mode or a recipe says of itself is evidence: stock, sales and lock are read from the
store's keys, and what a buyer was told is what it was told.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from app.explorer.explorable import Explorable
from app.explorer.graph import CRASHED, Graph, State, Way
from app.explorer.targets import Book

# The gravest first: it is what a verdict speaks of.
FINDINGS = {
    "oversell": "More units are promised than there were: somebody will be disappointed.",
    "sold twice": "One order was sold two times: its buyer pays for units that he never wanted.",
    "negative stock": "When all is over the shelf holds less than nothing, and stays so.",
    "unit lost": "A unit is neither on the shelf nor sold: nobody will ever have it.",
    "stuck for ever": "Somebody waits for what can never happen: no time that passes helps.",
    "undersell": "A buyer was told that it is sold out, and in the end a unit is left.",
    "order lost": "A buyer was told that he has bought, and the store knows nothing of it.",
    "phantom order": "A buyer was told that it went wrong, and his order stands all the same.",
    "two holders": "Two buyers are inside of the critical section at once.",
    "lock deleted by another": "A buyer removed a lock that was somebody else's.",
    "lock leaked": "All are gone, and the lock still stands and will never end.",
}


@dataclass(frozen=True)
class Judge:
    """Looks at the states of one graph."""

    graph: Graph
    target: Explorable

    @cached_property
    def places(self) -> dict[str, set[int]]:
        """For each finding the states in which it is the case; only findings that are.

        Of a graph that was explored to its end: only there is it known who is stuck for ever.
        """
        found = dict(self.seen)
        if stuck := self._stuck():
            found["stuck for ever"] = stuck
        return {name: found[name] for name in FINDINGS if name in found}

    @cached_property
    def seen(self) -> dict[str, set[int]]:
        """The same, of whatever part of the graph is known."""
        found: dict[str, set[int]] = defaultdict(set)
        for number, state in enumerate(self.graph.states):
            for name in self._at(state):
                found[name].add(number)
        for number, ways in enumerate(self.graph.ways):
            for way in ways:
                if way.kind == "goes" and self._deletes_anothers(number, way):
                    found["lock deleted by another"].add(way.to)
        return {name: found[name] for name in FINDINGS if name in found}

    def book(self, world: int) -> Book:
        if world not in self._books:
            self._books[world] = self.target.book(self.graph.world.entries(world))
        return self._books[world]

    @cached_property
    def _books(self) -> dict[int, Book]:
        return {}

    def _at(self, state: State) -> Iterator[str]:
        book = self.book(state.world)
        told = self._told(state)
        orders = {sale.id for sale in book.sales}
        bought = {self.target.order(name).id for name, word in told.items() if word == "SOLD"}
        units = dict.fromkeys(bought, self.target.quantity)
        units |= {sale.id: sale.quantity for sale in book.sales}
        if sum(units.values()) > self.target.stock:
            yield "oversell"
        if len(orders) < len(book.sales):
            yield "sold twice"
        if bought - orders:
            yield "order lost"
        for name, word in told.items():
            if word != "SOLD" and self.target.order(name).id in orders:
                yield "phantom order"
        if self.target.locks and self._inside(state) > 1:
            yield "two holders"
        if self.graph.over(state):
            yield from self._in_the_end(book, told)

    def _in_the_end(self, book: Book, told: dict[str, str]) -> Iterator[str]:
        if book.left < 0:
            yield "negative stock"
        sold = sum(sale.quantity for sale in {sale.id: sale for sale in book.sales}.values())
        if self.target.stock - max(0, book.left) - sold > 0:
            yield "unit lost"
        if "SOLD_OUT" in told.values() and book.left >= self.target.quantity:
            yield "undersell"
        if book.lock is not None and not book.lock_ends:
            yield "lock leaked"

    def _told(self, state: State) -> dict[str, str]:
        """What each buyer was told who lives and has come to an end."""
        return {
            automaton.name: automaton.nodes[at].told
            for automaton, at in zip(self.graph.automata, state.nodes, strict=True)
            if at != CRASHED and automaton.nodes[at].ended
        }

    def _inside(self, state: State) -> int:
        nodes = zip(self.graph.automata, state.nodes, strict=True)
        return sum(at != CRASHED and automaton.nodes[at].inside for automaton, at in nodes)

    def _deletes_anothers(self, number: int, way: Way) -> bool:
        before = self.book(self.graph.states[number].world).lock
        if before is None or self.book(self.graph.states[way.to].world).lock is not None:
            return False
        owner = next(
            (name for name in self._names if before.startswith(f"token-{name}".encode())), None
        )
        return owner is not None and owner != self.graph.automata[way.buyer].name

    @cached_property
    def _names(self) -> list[str]:
        return [automaton.name for automaton in self.graph.automata]

    def _stuck(self) -> set[int]:
        """Where somebody will never come to an end, however long the others go on."""
        onward: dict[int, list[int]] = defaultdict(list)
        ends = []
        for number, state in enumerate(self.graph.states):
            if self.graph.over(state):
                ends.append(number)
            for way in self.graph.ways[number]:
                if way.kind in ("goes", "time"):
                    onward[way.to].append(number)
        free, todo = set(ends), ends
        while todo:
            for number in onward[todo.pop()]:
                if number not in free:
                    free.add(number)
                    todo.append(number)
        return set(range(len(self.graph.states))) - free
