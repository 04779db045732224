"""Holders of locks in a user's code, tracked by the commands on the locks.

A lock is a key that is written only if it does not exist (SET NX, redis-py's own). Its holder
deletes it, or others ask for it again and again; or its name says that it is a lock. The value need
not name the owner: the owner is tracked through the graph, from step to step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from badluck.actor.request import Send
from badluck.findings.lock_commands import gives_back, taken, takes
from badluck.model.values import Command, Entry
from badluck.search.automaton import Automaton
from badluck.search.graph import Graph
from badluck.search.paths import Goal, Path, shortest
from badluck.search.state import CRASHED, SystemState, Transition

CALLED_SO = re.compile(rb"(?<![a-z])(lock|mutex)(?![a-z])")
DOES = ("goes", "lost", "arrives")  # kinds of steps in which a server executes a command
NO_HOLDER = -1


class LockKey(NamedTuple):
    """A key of one server: the same key on another server is another lock."""

    server: int
    key: bytes


class Ownership(NamedTuple):
    """`inside`: the actors that have taken the lock, and have neither released it nor ended."""

    holder: int
    inside: frozenset[int]


@dataclass
class TrackedLock:
    """One lock; goals are states or steps where something is the case on every path to them."""

    at: LockKey
    facts: dict[int, set[Ownership]] = field(default_factory=dict)  # by the state
    given_back: bool = False  # by its holder, without a fault
    deleted: set[Goal] = field(default_factory=set)  # by another
    two_inside: set[Goal] = field(default_factory=set)  # without a fault, or of a named lock


class OwnershipGraph:
    """The graph with one copy of each state for each possible holder of the lock.

    Locks that all write the same value leave no trace of their owner. One state then stands for
    several, and only on some of the paths to it does another actor hold the lock. A lock that only
    a script can take counts as held by no actor.
    """

    def __init__(self, tracker: LockTracker, lock: TrackedLock) -> None:
        self.numbers = {(0, NO_HOLDER): 0}
        self.places = [(0, NO_HOLDER)]  # states, each with the lock's holder there
        self.edges: list[list[Transition]] = []
        self.deleted: set[Goal] = set()
        for nth, (number, holder) in enumerate(self.places):  # the list grows meanwhile
            self.edges.append([])
            for edge in tracker.graph.edges[number]:
                then = tracker.holder_after(lock, number, edge, holder)
                owned_edge = edge._replace(to=self._number(edge.to, then))
                self.edges[nth].append(owned_edge)
                if tracker.deletes(lock, number, edge, holder):
                    self.deleted.add((nth, owned_edge))

    def _number(self, state: int, holder: int) -> int:
        place = state, holder
        if place not in self.numbers:
            self.numbers[place] = len(self.places)
            self.places.append(place)
        return self.numbers[place]

    def to_a_deletion(self) -> Path | None:
        """Return the path with the original graph's state numbers."""
        path = shortest(self, {"": self.deleted}).get("") if self.deleted else None
        return path and path._replace(
            edges=tuple(
                (self.places[at][0], edge._replace(to=self.places[edge.to][0]))
                for at, edge in path.edges
            )
        )


class LockTracker:
    def __init__(self, graph: Graph, named: bytes | None) -> None:
        """`named` is a lock, whatever is done to it."""
        self.graph = graph
        self.named = named

    @cached_property
    def locks(self) -> list[TrackedLock]:
        locks = [self._followed(place) for place in sorted(self.likely)]
        return [lock for lock in locks if self._is_one(lock)]

    @property
    def keys(self) -> list[str]:
        return sorted({lock.at.key.decode(errors="replace") for lock in self.locks})

    @cached_property
    def likely(self) -> set[LockKey]:
        """Return the keys that may be locks, by the commands on them."""
        places = {place for place in self._texts if self._called_so(place)}
        return places | {place for _, _, place in self._asked()}

    @property
    def servers_of_named(self) -> set[int]:
        """Return the servers on which the named key ever held a text."""
        return {place.server for place in self._texts if place.key == self.named}

    def deleted_on_some_way(self) -> Path | None:
        """Return the shortest path to a deletion of another's lock that no state shows."""
        paths = [
            path for lock in self.locks if (path := OwnershipGraph(self, lock).to_a_deletion())
        ]
        return min(paths, key=lambda path: path.cost, default=None)

    def deletes_anothers(self, edges: Sequence[tuple[int, Transition]]) -> int:
        """Return the step, from 1, in which another's lock is deleted on this path; 0: none."""
        for lock in self.locks:
            holder = NO_HOLDER
            for nth, (number, edge) in enumerate(edges, 1):
                if self.deletes(lock, number, edge, holder):
                    return nth
                holder = self.holder_after(lock, number, edge, holder)
        return 0

    def deletes(self, lock: TrackedLock, number: int, edge: Transition, holder: int) -> bool:
        """Does that step delete the lock of another?"""
        commands, before, after = self._done(lock, number, edge)
        return bool(commands and before and not after and holder not in (NO_HOLDER, edge.actor))

    def holder_after(self, lock: TrackedLock, number: int, edge: Transition, holder: int) -> int:
        """Return the holder after that step; NO_HOLDER where only a script can tell."""
        facts = {*self._then(lock, number, edge, Ownership(holder, frozenset()))}
        return facts.pop().holder if len(facts) == 1 else NO_HOLDER

    def left(self, ends: bool, crashed: bool) -> set[int]:
        """Return the states in which all have ended and a lock is still held; `ends`: until it
        expires.

        `crashed`: also by an actor that has crashed, as long as the lock does not expire.
        """
        return {
            number
            for lock in self.locks
            for number, facts in lock.facts.items()
            if self.graph.settled(number)
            if (entry := self._entry(number, lock.at)) and (entry.expires is not None) == ends
            if all(
                fact.holder != NO_HOLDER and (crashed or not self._crashed(number, fact.holder))
                for fact in facts
            )
        }

    def _crashed(self, number: int, actor: int) -> bool:
        return self.graph.states[number].nodes[actor] == CRASHED

    @cached_property
    def _texts(self) -> set[LockKey]:
        return {
            LockKey(server, key)
            for each in self.graph.servers.states
            for server, state in enumerate(each)
            for key, (value, _) in state.entries
            if type(value) is bytes
        }

    def _called_so(self, place: LockKey) -> bool:
        return place.key == self.named or bool(CALLED_SO.search(place.key.lower()))

    def _asked(self) -> Iterator[tuple[Automaton, int, LockKey]]:
        """Yield the nodes that try to write a key only if it does not exist, with the key."""
        for automaton in self.graph.automata:
            if not isinstance(automaton, Automaton):
                continue
            for at, node in enumerate(automaton.nodes):
                for request in node.requests:
                    if isinstance(request, Send):
                        server = int(request.connection[0])
                        keys = [command[1] for command in request.commands if takes(command)]
                        yield from ((automaton, at, LockKey(server, key)) for key in keys)

    def _is_one(self, lock: TrackedLock) -> bool:
        return self._called_so(lock.at) or lock.given_back or self._asked_again(lock.at)

    def _asked_again(self, place: LockKey) -> bool:
        """Does an actor that asks for it return to the same node, for as long as it likes?"""
        for automaton, start, lock_key in self._asked():
            todo, visited = [start] if lock_key == place else [], set[int]()
            while todo:
                to = {move.to for move in automaton.nodes[todo.pop()].moves.values()} - visited
                visited |= to
                todo += to
            if start in visited:
                return True
        return False

    def _followed(self, place: LockKey) -> TrackedLock:
        """Follow a lock from the beginning along every step, until nothing new is known."""
        lock, graph = TrackedLock(place), self.graph
        lock.facts[0] = {Ownership(NO_HOLDER, frozenset())}
        todo = [0]
        while todo:
            number = todo.pop()
            for edge in graph.edges[number]:
                facts = lock.facts[number]
                after = {then for fact in facts for then in self._then(lock, number, edge, fact)}
                known = lock.facts.setdefault(edge.to, set())
                if not after <= known:
                    known |= after
                    todo.append(edge.to)
        for number, facts in lock.facts.items():
            for edge in graph.edges[number]:
                self._judge(lock, number, edge, facts)
        return lock

    def _then(
        self, lock: TrackedLock, number: int, edge: Transition, fact: Ownership
    ) -> Iterator[Ownership]:
        commands, before, after = self._done(lock, number, edge)
        nodes = self.graph.states[edge.to].nodes
        for takes_it in taken(lock.at.key, commands, before, after):
            holder, inside = fact if after else (NO_HOLDER, fact.inside)
            if takes_it:
                holder = edge.actor
                inside |= {holder} if edge.kind == "goes" else set()
            elif gives_back(lock.at.key, commands, before, after):
                inside -= {edge.actor}
            still = frozenset(actor for actor in inside if self._at_work(actor, nodes[actor]))
            yield Ownership(holder, still)

    def _judge(
        self, lock: TrackedLock, number: int, edge: Transition, facts: set[Ownership]
    ) -> None:
        commands, before, after = self._done(lock, number, edge)
        holders = {fact.holder for fact in facts}
        calm = self.graph.states[edge.to].left == self.graph.states[0].left
        if commands and before and not after:
            if edge.actor not in holders and NO_HOLDER not in holders:
                lock.deleted.add((number, edge))
            lock.given_back |= calm and edge.actor in holders
        takes_it = taken(lock.at.key, commands, before, after) == {True}
        matters = calm or lock.at.key == self.named
        if takes_it and matters and all(fact.inside - {edge.actor} for fact in facts):
            lock.two_inside.add((number, edge))

    def _done(
        self, lock: TrackedLock, number: int, edge: Transition
    ) -> tuple[tuple[Command, ...], Entry | None, Entry | None]:
        """Return the step's commands on the lock's server, and the lock before and after it."""
        commands = self._commands(lock.at.server, self.graph.states[number], edge)
        return commands, self._entry(number, lock.at), self._entry(edge.to, lock.at)

    def _at_work(self, actor: int, at: int) -> bool:
        return at != CRASHED and not self.graph.automata[actor].nodes[at].ended

    def _commands(self, server: int, state: SystemState, edge: Transition) -> tuple[Command, ...]:
        """Return the commands that this step executes on that server."""
        if edge.kind not in DOES:
            return ()
        automaton = self.graph.automata[edge.actor]
        request: object
        if edge.kind == "arrives":
            request = state.sent_by(automaton.name)[edge.fiber]
        else:
            request = automaton.nodes[state.nodes[edge.actor]].requests[edge.fiber]
        if not isinstance(request, Send) or int(request.connection[0]) != server:
            return ()
        return request.commands

    def _entry(self, number: int, place: LockKey) -> Entry | None:
        servers = self.graph.states[number].servers
        if servers not in self._stores:
            self._stores[servers] = self.graph.servers.stores(servers)
        return self._stores[servers][place.server].get(place.key)

    @cached_property
    def _stores(self) -> dict[int, list[dict[bytes, Entry]]]:
        return {}
