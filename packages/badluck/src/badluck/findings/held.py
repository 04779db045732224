"""Who holds the locks of somebody's own code, seen from what is done to them.

A lock is a key that is written where it was not (SET NX, redis-py's own), and that its holder
deletes, or others ask for again and again; or one that is called so. Whose it is, no value need
say: it is followed through the graph, from step to step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from badluck.actor.request import Send
from badluck.search.automaton import Automaton
from badluck.search.graph import CRASHED, Graph, State, Transition
from badluck.search.paths import Goal
from badluck.simulated.values import Command, Entry

CALLED_SO = re.compile(rb"(?<![a-z])(lock|mutex)(?![a-z])")
WRITES = (b"SET", b"SETEX", b"PSETEX", b"GETSET")
DELETES = (b"DEL", b"UNLINK", b"GETDEL")
SCRIPTS = (b"EVAL", b"EVALSHA")
DOES = ("goes", "lost", "arrives")  # kinds of steps in which a server does a command
NOBODY = -1
STORE = "0"  # begins its connections


class Fact(NamedTuple):
    """`inside`: who came to hold it, and has neither given it back nor come to an end."""

    holder: int
    inside: frozenset[int]


@dataclass
class Lock:
    """One key; places are where something is the case however one came there."""

    key: bytes
    facts: dict[int, set[Fact]] = field(default_factory=dict)  # by the state
    given_back: bool = False  # by its holder, without a fault
    deleted: set[Goal] = field(default_factory=set)  # by another
    two_inside: set[Goal] = field(default_factory=set)  # without a fault, or of one that is named


class Held:
    def __init__(self, graph: Graph, named: bytes | None) -> None:
        """`named` is a lock, whatever is done to it."""
        self.graph = graph
        self.named = named

    @cached_property
    def locks(self) -> list[Lock]:
        locks = [self._followed(key) for key in sorted(self.likely)]
        return [lock for lock in locks if self._is_one(lock)]

    @cached_property
    def likely(self) -> set[bytes]:
        """Keys that may be locks: what is done to them tells."""
        keys = {key for key in self._keys if key == self.named or CALLED_SO.search(key.lower())}
        return keys | {key for _, _, key in self._asked()}

    def left(self, ends: bool) -> set[int]:
        """Where all have come to an end and one is still held; `ends`: until it expires.

        Who has crashed could not give it back.
        """
        return {
            number
            for lock in self.locks
            for number, facts in lock.facts.items()
            if self.graph.over(self.graph.states[number])
            if (entry := self._entry(number, lock.key)) and (entry.expires is not None) == ends
            if all(self._lives(number, fact.holder) for fact in facts)
        }

    def _lives(self, number: int, actor: int) -> bool:
        return actor != NOBODY and self.graph.states[number].nodes[actor] != CRASHED

    @cached_property
    def _keys(self) -> set[bytes]:
        entries = (entry for each in self.graph.servers.states for entry in each[0].entries)
        return {key for key, (value, _) in entries if type(value) is bytes}

    def _asked(self) -> Iterator[tuple[Automaton, int, bytes]]:
        """Where it is tried to write a key that must not be there."""
        for automaton in self.graph.automata:
            if not isinstance(automaton, Automaton):
                continue
            for at, node in enumerate(automaton.nodes):
                for request in node.requests:
                    for command in request.commands if isinstance(request, Send) else ():
                        if _takes(command):
                            yield automaton, at, command[1]

    def _is_one(self, lock: Lock) -> bool:
        called_so = lock.key == self.named or CALLED_SO.search(lock.key.lower())
        return bool(called_so) or lock.given_back or self._asked_again(lock.key)

    def _asked_again(self, key: bytes) -> bool:
        """Does anybody who asks for it come back to where it asks, for as long as it likes?"""
        for automaton, start, asked in self._asked():
            todo, seen = [start] if asked == key else [], set[int]()
            while todo:
                to = {move.to for move in automaton.nodes[todo.pop()].moves.values()} - seen
                seen |= to
                todo += to
            if start in seen:
                return True
        return False

    def _followed(self, key: bytes) -> Lock:
        """From the beginning along every step, until nothing new is known of any state."""
        lock, graph = Lock(key), self.graph
        lock.facts[0] = {Fact(NOBODY, frozenset())}
        todo = [0]
        while todo:
            number = todo.pop()
            for way in graph.ways[number]:
                after = {self._then(lock, number, way, fact) for fact in lock.facts[number]}
                known = lock.facts.setdefault(way.to, set())
                if not after <= known:
                    known |= after
                    todo.append(way.to)
        for number, facts in lock.facts.items():
            for way in graph.ways[number]:
                self._judge(lock, number, way, facts)
        return lock

    def _then(self, lock: Lock, number: int, way: Transition, fact: Fact) -> Fact:
        before, after = self._entry(number, lock.key), self._entry(way.to, lock.key)
        holder, inside = fact
        commands = self._commands(self.graph.states[number], way)
        if after is None:
            holder = NOBODY
        elif commands and _written(lock.key, commands, before, after):
            holder = way.actor
            inside |= {holder} if way.kind == "goes" else set()
        # A script that is given the key and leaves it as it is says: not yours.
        leaves = (*DELETES, *SCRIPTS) if after in (None, before) else DELETES
        if any(one[0] in leaves and lock.key in one for one in commands):
            inside -= {way.actor}
        nodes = self.graph.states[way.to].nodes
        return Fact(holder, frozenset(one for one in inside if self._at_work(one, nodes[one])))

    def _judge(self, lock: Lock, number: int, way: Transition, facts: set[Fact]) -> None:
        commands = self._commands(self.graph.states[number], way)
        before, after = self._entry(number, lock.key), self._entry(way.to, lock.key)
        holders = {fact.holder for fact in facts}
        calm = self.graph.states[way.to].left == self.graph.states[0].left
        if commands and before and not after:
            if way.actor not in holders and NOBODY not in holders:
                lock.deleted.add((number, way))
            lock.given_back |= calm and way.actor in holders
        taken = commands and after and _written(lock.key, commands, before, after)
        matters = calm or lock.key == self.named
        if taken and matters and all(fact.inside - {way.actor} for fact in facts):
            lock.two_inside.add((number, way))

    def _at_work(self, actor: int, at: int) -> bool:
        return at != CRASHED and not self.graph.automata[actor].nodes[at].ended

    def _commands(self, state: State, way: Transition) -> tuple[Command, ...]:
        """What is done to the store in this step."""
        if way.kind not in DOES:
            return ()
        if way.kind == "arrives":
            return state.sent_by(self.graph.automata[way.actor].name)[way.fiber].commands
        request = self.graph.automata[way.actor].nodes[state.nodes[way.actor]].requests[way.fiber]
        if not isinstance(request, Send) or request.connection[0] != STORE:
            return ()
        return request.commands

    def _entry(self, number: int, key: bytes) -> Entry | None:
        servers = self.graph.states[number].servers
        if servers not in self._stores:
            self._stores[servers] = self.graph.servers.entries(servers)
        return self._stores[servers].get(key)

    @cached_property
    def _stores(self) -> dict[int, dict[bytes, Entry]]:
        return {}


def _takes(command: Command) -> bool:
    words = [word.upper() for word in command[3:]]
    return command[0] == b"SETNX" or (command[0] == b"SET" and b"NX" in words)


def _written(key: bytes, commands: tuple[Command, ...], before: Entry | None, after: Entry) -> bool:
    """Also with what stood there before."""
    over = any(one[0] in WRITES and not _takes(one) and one[1] == key for one in commands)
    return before is None or before.value != after.value or over
