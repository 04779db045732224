"""What actors remember of what they were told, and whether it still is so.

Who has read a key goes by what it read, whatever others write meanwhile: so most schedules go
wrong. A place of the search keeps only what decides how its code goes on. So the code is run once
more along a schedule, and after each step the variables of the function at work are looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from badluck.actor.actor import Actor
from badluck.actor.request import Hear, Lost, Request, Send
from badluck.frames.source_position import Plain, plain_variables, working_frame
from badluck.game.board import Board
from badluck.model.values import Entry
from badluck.search.state import CRASHED, State, Transition

Store = dict[bytes, Entry]


@dataclass(frozen=True)
class Variable:
    """`key` is where in the store it was read; b"": nowhere, it was worked out."""

    value: Plain
    since: (
        int  # the number of the step, from 1, that brought it; 0: it was there from the beginning
    )
    key: bytes = b""
    old: bool = False  # somebody else has written something else there since
    by: str = ""  # who; "" for what nobody does: a lease that ends, a failover

    def seen(self, before: Store, after: Store, mover: str) -> Variable:
        """After somebody else's step."""
        then, now = _text(before, self.key), _text(after, self.key)
        if not self.key or then == now:
            return self
        old = now != self.value
        return replace(self, old=old, by=mover if old else "")


class Memory:
    """One actor's, while its code is run along a schedule."""

    def __init__(self, board: Board, number: int) -> None:
        self.code = board.judge.target.code
        self.actor = Actor(board.automata[number].name, self.code, board.began)
        self.variables: dict[str, Variable] = {}
        self.lock: bytes | None = None  # its value when this actor came into the section
        self._look(0, {})

    def go_on(self, nth: int, fiber: int, said: Any, now: int, before: Store) -> None:
        """By a step of its own, the `nth`."""
        read = _read(self.actor.requests[fiber], said, before)
        self.actor.go_on(fiber, said, now)
        self._look(nth, read)

    def _look(self, nth: int, read: dict[bytes, bytes]) -> None:
        frame = working_frame(self.actor.fibers[0], self.code)
        known, self.variables = self.variables, {}
        for name, value in plain_variables(frame).items() if frame else ():
            key = read.get(value, b"") if isinstance(value, bytes) else b""
            one = known.get(name)
            # What was read once more is as new as that reading, also if it has not changed.
            if one is None or one.value != value or (key and key == one.key):
                one = Variable(value, nth, key)
            self.variables[name] = one

    def watch(self, before: Store, after: Store, mover: str) -> None:
        """Something has happened that is no step of its own."""
        self.variables = {
            name: one.seen(before, after, mover) for name, one in self.variables.items()
        }

    def end(self) -> None:
        """It crashes, or nobody goes on with it."""
        self.actor.drop()
        self.variables, self.lock = {}, None

    def shown(self, store: Store, lock: bytes | None) -> dict[str, Any]:
        """For people. `now` is what stands at a variable's key, "" when that is gone.

        `lock` is its value. `lock_lost`: the actor is in the section, and the lock is not what it
        was when it came in.
        """
        if not self.actor.over and self.actor.inside():
            self.lock = self.lock or lock
        else:
            self.lock = None
        return {
            "remembers": [
                {
                    "name": name,
                    "value": self._said(one.value),
                    "since": one.since,
                    "key": self._said(one.key),
                    "old": one.old,
                    "by": one.by,
                    "now": self._said(_text(store, one.key)),
                }
                for name, one in self.variables.items()
            ],
            "lock_lost": self.lock is not None and lock != self.lock,
        }

    def _said(self, value: Plain) -> str:
        """As in a chart."""
        return self.code.words.reply(value.encode() if isinstance(value, str) else value)


def memories(board: Board, ways: Sequence[Transition]) -> Iterator[list[dict[str, Any]]]:
    """Of each actor, at the beginning and after each of these steps: see Memory.shown."""
    known = [Memory(board, number) for number in range(len(board.automata))]
    state = board.states[0]
    try:
        yield _all(board, known, state)
        for nth, way in enumerate(ways, 1):
            before, state = state, board.states[way.to]
            store, after = (board.servers.entries(each.servers) for each in (before, state))
            mover = board.automata[way.actor].name if way.actor >= 0 else ""
            for number, memory in enumerate(known):
                # What arrives late is done without its sender, who has given up on it.
                if number != way.actor or way.kind == "arrives":
                    memory.watch(store, after, mover)
                elif state.nodes[number] == CRASHED:
                    memory.end()
                else:
                    said = _said(board, before, way)
                    memory.go_on(nth, way.fiber, said, board.servers.now(before.servers), store)
            yield _all(board, known, state)
    finally:
        for memory in known:
            memory.end()


def _all(board: Board, known: list[Memory], state: State) -> list[dict[str, Any]]:
    store = board.servers.entries(state.servers)
    lock = board.judge.book(state.servers).lock
    return [memory.shown(store, lock and lock.value) for memory in known]


def _said(board: Board, state: State, way: Transition) -> Any:
    """What the actor is answered that goes this way."""
    if way.kind != "goes":
        return Lost()
    request = board.automata[way.actor].nodes[state.nodes[way.actor]].requests[way.fiber]
    if isinstance(request, Send):
        return board.servers.send(state.servers, request.connection, request.commands).said
    if isinstance(request, Hear):
        heard = board.servers.hear(state.servers, request.connection)
        return heard.said if heard else None
    return None


def _read(request: Request, said: Any, store: Store) -> dict[bytes, bytes]:
    """The keys that were asked for and whose text was answered, by that text.

    None of a text that stands at two of them. Scripts name their keys, too.
    """
    if not isinstance(request, Send) or not request.connection.startswith("0"):
        return {}
    words = {word for command in request.commands for word in command[1:]}
    texts = {key: _text(store, key) for key in words if key in store}
    many = Counter(texts.values())
    answered = set(_flat(said))
    return {text: key for key, text in texts.items() if text in answered and many[text] == 1}


def _flat(said: Any) -> Iterator[bytes]:
    if isinstance(said, tuple):
        for one in said:
            yield from _flat(one)
    elif isinstance(said, bytes):
        yield said


def _text(store: Store, key: bytes) -> bytes:
    """What stands there; b"" where there is nothing, or something else than a text."""
    value = store[key].value if key in store else b""
    return value if isinstance(value, bytes) else b""
