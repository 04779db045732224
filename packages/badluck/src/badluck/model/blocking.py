"""Commands that wait when there is nothing yet: how long, for which keys, and what they take."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from badluck.model import groups, lists, sorted_sets
from badluck.model.keyspace import Keyspace
from badluck.model.parsing import SYNTAX, CommandRefused, milliseconds
from badluck.model.values import Command, Reply, SortedSet, Stream

FOR_EVER = 0


class Waiting(NamedTuple):
    """How a command waits: `patience` in ms, 0 forever, None not at all; it rejects wrong words.

    `of` are the keys, each to hold a `kind`. `take` executes the command, and returns None as long
    as the keys are empty. `meant` is the command with the values of the time at which it came.
    """

    patience: Callable[[Command], int | None]
    of: Callable[[Command], tuple[bytes, ...]]
    kind: type
    take: Callable[[Keyspace, Command, tuple[bytes, ...]], Reply]
    meant: Callable[[Keyspace, Command], Command] = lambda _, command: command


def _seconds(text: bytes) -> int:
    try:
        ms = round(float(text) * 1000)
    except (ValueError, OverflowError):
        raise CommandRefused("ERR timeout is not a float or out of range") from None
    return milliseconds(b"%d" % ms)


def _last(command: Command) -> int:
    return _seconds(command[-1])


def _first(command: Command) -> int:
    return _seconds(command[1])


def _of_a_move(command: Command) -> int:
    if command[0] == b"BLMOVE" and not {*map(bytes.upper, command[3:5])} <= {b"LEFT", b"RIGHT"}:
        raise CommandRefused(SYNTAX)
    return _seconds(command[-1])


def _pop(keys: Keyspace, command: Command, of: tuple[bytes, ...]) -> Reply:
    """BLPOP, BRPOP."""
    for key in of:
        if keys.value(key, tuple):
            return key, lists.pop(keys, (command[0][1:], key))
    return None


def _pop_scored(keys: Keyspace, command: Command, of: tuple[bytes, ...]) -> Reply:
    """BZPOPMIN, BZPOPMAX."""
    for key in of:
        if sorted_sets.scores_of(keys, key):
            [(member, score)] = sorted_sets.take(keys, command[0][1:], key, 1)
            return key, member, sorted_sets.shown(score)
    return None


def _move(keys: Keyspace, command: Command, _: tuple[bytes, ...]) -> Reply:
    """BLMOVE, BRPOPLPUSH."""
    return lists.move(keys, command[:-1])


def _pop_many(keys: Keyspace, command: Command, of: tuple[bytes, ...]) -> Reply:
    """BLMPOP, BZMPOP."""
    named = _numbered(command)
    words = (command[0][1:], b"%d" % len(of), *of, *command[3 + len(named) :])
    do = lists.pop_first if command[0] == b"BLMPOP" else sorted_sets.pop_first
    return do(keys, words)


def _numbered(command: Command) -> tuple[bytes, ...]:
    ends = {b"LEFT", b"RIGHT"} if command[0] == b"BLMPOP" else {b"MIN", b"MAX"}
    return lists.several(command[1:], ends)[0]


def _all_but_the_last(command: Command) -> tuple[bytes, ...]:
    return command[1:-1]


def _source(command: Command) -> tuple[bytes, ...]:
    return command[1:2]


POPS = Waiting(_last, _all_but_the_last, tuple, _pop)
SCORED_POPS = Waiting(_last, _all_but_the_last, SortedSet, _pop_scored)
MOVES = Waiting(_of_a_move, _source, tuple, _move)
READS = Waiting(groups.patience, groups.names, Stream, groups.read, groups.meant)

TABLE: dict[bytes, Waiting] = {
    b"BLPOP": POPS,
    b"BRPOP": POPS,
    b"BZPOPMIN": SCORED_POPS,
    b"BZPOPMAX": SCORED_POPS,
    b"BLMPOP": Waiting(_first, _numbered, tuple, _pop_many),
    b"BZMPOP": Waiting(_first, _numbered, SortedSet, _pop_many),
    b"BLMOVE": MOVES,
    b"BRPOPLPUSH": MOVES,
    b"XREAD": READS,
    b"XREADGROUP": READS,
}


def may_wait(command: Command) -> bool:
    """Can it wait, for another client or for replicas?"""
    if command[0] in {b"XREAD", b"XREADGROUP"}:
        return any(word.upper() == b"BLOCK" for word in command)
    return command[0] in TABLE or command[0] == b"WAIT"


BINDS = {b"WATCH", b"MULTI", b"SUBSCRIBE", b"PSUBSCRIBE", b"SSUBSCRIBE"}
FREES = {b"EXEC", b"DISCARD", b"UNWATCH"}


def note_binding(bound: set[str], connection: str, commands: Iterable[Command]) -> None:
    """Note connections that leave state with their server: WATCH, SUBSCRIBE, a wait.

    All others are alike: the server cannot distinguish one of them from a new one.
    """
    for command in commands:
        if command[0] in BINDS or may_wait(command):
            bound.add(connection)
        elif command[0] in FREES:
            bound.discard(connection)
