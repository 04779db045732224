"""What can go wrong, by the names that a teacher would use, and where in a graph it does.

Nothing that a mode or a recipe says of itself is evidence: stock, sales and lock are read from the
store's keys, and what a buyer was told is what it was told.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from app.explorer.explorable import Explorable
from app.explorer.graph import CRASHED, Graph, State, Way
from app.explorer.names import renamed
from app.explorer.paths import Goal
from app.explorer.request import Rest, Send
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
    "no sale": "Nobody bought, though there was enough, and nothing went wrong for who was left.",
    "two holders": "Two buyers are inside of the critical section at once.",
    "lock deleted by another": "A buyer removed a lock that was somebody else's.",
    "lock renewed by another": "A buyer prolonged a lock that was somebody else's.",
    "stalled": "Nothing went wrong, and all wait for a time to run out: who was to go on is gone.",
    "lock left behind": "All are gone, nothing went wrong, and the lock still stands for a while.",
    "lock leaked": "All are gone, and the lock still stands and will never end.",
    "starved": "Others buy again and again, and one never does: he asks for ever, or gives up.",
}
PROLONG = (b"EXPIRE", b"PEXPIRE", b"PERSIST")


class Told(NamedTuple):
    """What can be seen of the buyers who live."""

    words: tuple[tuple[str, str], ...]  # by name, what each was told who has come to an end
    inside: int  # how many are in a critical section
    over: bool  # have all come to an end?


@dataclass(frozen=True)
class Judge:
    """Looks at the states of one graph."""

    graph: Graph
    target: Explorable

    @cached_property
    def places(self) -> dict[str, set[Goal]]:
        """For each finding the states or the steps in which it is the case; only findings that are.

        Of a graph that was explored to its end: only there is it known who is stuck for ever.
        """
        found = dict(self.seen)
        if stuck := self._stuck():
            found["stuck for ever"] = set(stuck)
        return {name: found[name] for name in FINDINGS if name in found}

    @cached_property
    def seen(self) -> dict[str, set[Goal]]:
        """The same, of whatever part of the graph is known."""
        found: dict[str, set[Goal]] = defaultdict(set)
        for number, state in enumerate(self.graph.states):
            for name in self._at(state):
                found[name].add(number)
        for number, ways in enumerate(self.graph.ways):
            for way in ways:
                for name in self._done(number, way):
                    found[name].add((number, way))
        return {name: found[name] for name in FINDINGS if name in found}

    def after(self, number: int, way: Way) -> list[str]:
        """What is the case after this step, the gravest first; who is stuck, it cannot know."""
        found = {*self._at(self.graph.states[way.to]), *self._done(number, way)}
        return [name for name in FINDINGS if name in found]

    def _done(self, number: int, way: Way) -> Iterator[str]:
        """What this step itself has done wrong."""
        if way.kind == "goes" and self._anothers(number, way):
            if self._deletes(number, way):
                yield "lock deleted by another"
            if self._prolongs(number, way):
                yield "lock renewed by another"
        if way.kind == "time" and self._stalled(self.graph.states[number]):
            yield "stalled"

    def book(self, world: int) -> Book:
        if world not in self._books:
            self._books[world] = self.target.book(self.graph.world.entries(world))
        return self._books[world]

    @cached_property
    def _books(self) -> dict[int, Book]:
        return {}

    def _at(self, state: State) -> list[str]:
        told = self._told.get(state.nodes)
        if told is None:
            told = self._told[state.nodes] = self._what_they_know(state)
        key = (state.world, told)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = list(self._wrong(self.book(state.world), told))
        return [*found, *self._wrong_without_a_reason(state, told)] if told.over else found

    @cached_property
    def _told(self) -> dict[tuple[int, ...], Told]:
        return {}

    @cached_property
    def _found(self) -> dict[tuple[int, Told], list[str]]:
        return {}

    def _what_they_know(self, state: State) -> Told:
        nodes = [
            (automaton.name, automaton.nodes[at])
            for automaton, at in zip(self.graph.automata, state.nodes, strict=True)
            if at != CRASHED
        ]
        return Told(
            tuple((name, node.told) for name, node in nodes if node.ended),
            sum(node.inside for _, node in nodes),
            self.graph.over(state),
        )

    def _wrong(self, book: Book, told: Told) -> Iterator[str]:
        orders = {sale.id for sale in book.sales}
        bought = {self.target.order(name).id for name, word in told.words if word == "SOLD"}
        units = dict.fromkeys(bought, self.target.quantity)
        units |= {sale.id: sale.quantity for sale in book.sales}
        if sum(units.values()) > self.target.stock:
            yield "oversell"
        if len(orders) < len(book.sales):
            yield "sold twice"
        if bought - orders:
            yield "order lost"
        for name, word in told.words:
            if word != "SOLD" and self.target.order(name).id in orders:
                yield "phantom order"
        if self.target.locks and told.inside > 1:
            yield "two holders"
        if told.over:
            yield from self._in_the_end(book, told)

    def _wrong_without_a_reason(self, state: State, told: Told) -> Iterator[str]:
        """What a fault would excuse."""
        book = self.book(state.world)
        nothing = not book.sales and all(word != "SOLD" for _, word in told.words)
        if told.words and nothing and book.left >= self.target.quantity and self._calm(state):
            yield "no sale"
        if book.lock is not None and book.lock_ends and self._undisturbed(state):
            yield "lock left behind"

    def _in_the_end(self, book: Book, told: Told) -> Iterator[str]:
        if book.left < 0:
            yield "negative stock"
        sold = sum(sale.quantity for sale in {sale.id: sale for sale in book.sales}.values())
        if self.target.stock - max(0, book.left) - sold > 0:
            yield "unit lost"
        sold_out = any(word == "SOLD_OUT" for _, word in told.words)
        if sold_out and book.left >= self.target.quantity:
            yield "undersell"
        if book.lock is not None and not book.lock_ends:
            yield "lock leaked"

    def _anothers(self, number: int, way: Way) -> bool:
        """Was the lock somebody else's before this step?"""
        lock = self.book(self.graph.states[number].world).lock
        if lock is None:
            return False
        owner = next(
            (name for name in self._names if lock.startswith(f"token-{name}".encode())), None
        )
        return owner is not None and owner != self.graph.automata[way.buyer].name

    def _deletes(self, number: int, way: Way) -> bool:
        return self.book(self.graph.states[way.to].world).lock is None

    def _prolongs(self, number: int, way: Way) -> bool:
        before = self.book(self.graph.states[number].world)
        after = self.book(self.graph.states[way.to].world)
        if before.lock is None or renamed(before.lock, way.names) != after.lock:
            return False
        # Also to the very ms to which it was set: it is luck that this changes nothing.
        at = self.graph.states[number].nodes[way.buyer]
        request = self.graph.automata[way.buyer].nodes[at].requests[way.strand]
        key = self.target.lock_key
        asked = isinstance(request, Send) and any(
            command[0] in PROLONG and command[1] == key for command in request.commands
        )
        return asked or before.lock_until != after.lock_until

    def _undisturbed(self, state: State) -> bool:
        """Has no fault led here?"""
        return state.left == self.graph.states[0].left

    def _calm(self, state: State) -> bool:
        """Has nothing happened to those who are left? Others may have crashed."""
        start = self.graph.states[0].left
        return state.left._replace(crash=start.crash) == start

    def _stalled(self, state: State) -> bool:
        """Nobody is at work, and yet nobody can do anything but wait for a lock."""
        if self.target.lock_key is None or not self._undisturbed(state):
            return False
        return not any(
            at != CRASHED and isinstance(automaton.nodes[at].requests[0], Rest)
            for automaton, at in zip(self.graph.automata, state.nodes, strict=True)
        )

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
