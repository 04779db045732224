"""Values that actors have read, and whether the store still holds them.

An actor acts on the value that it has read, whatever others write meanwhile: this is how most
schedules go wrong. A state of the search keeps only what decides how the code continues. So the
code is run once more along a schedule, and after each step the variables of the current function
are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from badluck.actor.actor import Actor
from badluck.actor.command_text import MAX_WORD_LENGTH, decoded
from badluck.actor.request import Hear, Lost, Request, Send
from badluck.frames.source_position import Plain, plain_variables, working_frame
from badluck.game.board import Board
from badluck.game.readings import Reading, Readings
from badluck.model.values import Entry
from badluck.search.state import CRASHED, SystemState, Transition

Store = dict[bytes, Entry]


@dataclass(frozen=True)
class Variable:
    """`since` is the number of the step, from 1, that brought it; 0: it was there before."""

    value: Plain
    since: int
    reading: Reading | None = None  # None: it was computed, or is an argument


class Memory:
    """One actor's memory, while its code is run along a schedule."""

    def __init__(self, board: Board, number: int) -> None:
        self.code = board.judge.target.code
        self.actor = Actor(board.automata[number].name, self.code, board.began)
        self.variables: dict[str, Variable] = {}
        self.readings = Readings()
        self.lock: bytes | None = None  # its value when this actor entered the section
        self._look(0, [])

    def go_on(self, nth: int, fiber: int, said: Any, now: int, before: Store) -> None:
        """Take a step of its own, the `nth`."""
        read = _read(self.actor.requests[fiber], said, before)
        self.actor.go_on(fiber, said, now)
        self._look(nth, [Reading(key, text, nth) for text, key in read.items()])

    def _look(self, nth: int, read: list[Reading]) -> None:
        frames = self._frames()
        readings = self.readings.look(frames, read)
        known, self.variables = self.variables, {}
        for name, value in plain_variables(frames[-1]).items() if frames else ():
            variable, reading = known.get(name), readings.get(name)
            if isinstance(value, float) and not reading:
                continue  # a point in time, which is not compared
            if reading:
                variable = Variable(value, reading.since, reading)
            elif variable is None or variable.value != value or variable.reading:
                variable = Variable(value, nth)
            self.variables[name] = variable

    def _frames(self) -> list[FrameType]:
        """Return the suspended functions of its own code, the outermost first."""
        frames: list[FrameType] = []
        frame = working_frame(self.actor.fibers[0], self.code)
        while frame:
            module, file = frame.f_globals.get("__name__", ""), frame.f_code.co_filename
            if module.startswith(self.code.shown[:1]) or self.code.files.own(file):
                frames.insert(0, frame)
            frame = frame.f_back
        return frames

    def watch(self, before: Store, after: Store, mover: str) -> None:
        """Note a step that is not its own."""
        for reading in self.readings.all():
            now = _text(after, reading.key)
            if now != _text(before, reading.key):
                reading.old = now != reading.text
                reading.by = mover if reading.old else ""

    def end(self) -> None:
        """Drop the actor: it has crashed, or its run is not needed any more."""
        self.actor.drop()
        self.variables, self.readings, self.lock = {}, Readings(), None

    def shown(self, store: Store, lock: bytes | None) -> dict[str, Any]:
        """Return a document for people. `now` is the value at a variable's key, None if the key is
        gone.

        `key` is "" for a variable that was not read. `lock` is its value. `lock_lost`: the actor is
        in the section, and the lock is not the one with which it entered.
        """
        if not self.actor.over and self.actor.inside():
            self.lock = self.lock or lock
        else:
            self.lock = None
        return {
            "remembers": [self._shown(*each, store) for each in self.variables.items()],
            "lock_lost": self.lock is not None and lock != self.lock,
        }

    def _shown(self, name: str, variable: Variable, store: Store) -> dict[str, Any]:
        reading = variable.reading or Reading(b"", b"", 0)
        now = _text(store, reading.key)
        return {
            "name": name,
            "value": self._text(variable.value),
            "since": variable.since,
            "key": self._word(reading.key),
            "old": reading.old,
            "by": reading.by,
            "now": None if now is None else self._word(now),
        }

    def _text(self, value: Plain) -> str:
        """Format a value as charts do."""
        if isinstance(value, float):
            return repr(value)
        if not isinstance(value, str):
            return self.code.words.reply(value)
        text = self._word(value.encode("utf-8", "surrogateescape"))
        return f"'{text}'" if self.code.words.bytes_as_such else text

    def _word(self, word: bytes) -> str:
        text = self.code.words.shorten(decoded(word))
        return text if len(text) <= MAX_WORD_LENGTH else f"{text[: MAX_WORD_LENGTH - 1]}…"


def memories(board: Board, edges: Sequence[Transition]) -> Iterator[list[dict[str, Any]]]:
    """Yield each actor's Memory.shown, at the beginning and after each step."""
    known = [Memory(board, number) for number in range(len(board.automata))]
    state = board.states[0]
    try:
        yield _all(board, known, state)
        for nth, edge in enumerate(edges, 1):
            before, state = state, board.states[edge.to]
            store, after = (board.servers.entries(each.servers) for each in (before, state))
            mover = board.automata[edge.actor].name if edge.actor >= 0 else ""
            for number, memory in enumerate(known):
                # A late command is executed without its sender, which has given up on it.
                if number != edge.actor or edge.kind == "arrives":
                    memory.watch(store, after, mover)
                elif state.nodes[number] == CRASHED:
                    memory.end()
                else:
                    reply = _reply(board, before, edge)
                    memory.go_on(nth, edge.fiber, reply, board.servers.now(before.servers), store)
            yield _all(board, known, state)
    finally:
        for memory in known:
            memory.end()


def _all(board: Board, known: list[Memory], state: SystemState) -> list[dict[str, Any]]:
    store = board.servers.entries(state.servers)
    lock = board.judge.book(state.servers).lock
    return [memory.shown(store, lock and lock.value) for memory in known]


def _reply(board: Board, state: SystemState, edge: Transition) -> Any:
    """Return the reply that the step's actor gets."""
    if edge.kind != "goes":
        return Lost()
    request = board.automata[edge.actor].nodes[state.nodes[edge.actor]].requests[edge.fiber]
    if isinstance(request, Send):
        return board.servers.send(state.servers, request.connection, request.commands).replies
    if isinstance(request, Hear):
        heard = board.servers.hear(state.servers, request.connection)
        return heard.replies if heard else None
    return None


def _read(request: Request, said: Any, store: Store) -> dict[bytes, bytes]:
    """Return the keys that were read as text, by that text.

    No text that is at two of them. Scripts name their keys, too.
    """
    if not isinstance(request, Send) or not request.connection.startswith("0"):
        return {}
    words = {word for command in request.commands for word in command[1:]}
    texts = {key: text for key in words if (text := _text(store, key)) is not None}
    many = Counter(texts.values())
    answered = set(_flat(said))
    return {text: key for key, text in texts.items() if text in answered and many[text] == 1}


def _flat(said: Any) -> Iterator[bytes]:
    if isinstance(said, tuple):
        for part in said:
            yield from _flat(part)
    elif isinstance(said, bytes):
        yield said


def _text(store: Store, key: bytes) -> bytes | None:
    """Return the string at the key; None if it is missing or another type."""
    value = store[key].value if key in store else None
    return value if isinstance(value, bytes) else None
