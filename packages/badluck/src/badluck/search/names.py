"""Actors change their names: what that makes of all that goes over the wire.

Actors run the same code, and nothing in it asks what somebody is called: only whether two names
are the same. So if they change their names, and those in everything that any of them wrote or
heard, all goes on as before, under other names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from badluck.simulated.memory import State

# Where an actor's name stands: in what `Actor`, `surroundings` and `Target` make of it.
PLACES = re.compile(
    rb"(?<=token-)[A-D]|(?<=order-)[A-D]|(?<=key-)[A-D]|(?<=process-)[A-D]"
    rb'|(?<="buyer":")[A-D]'
    rb"|(?<=0{14})4[1-4](?=0{14})"  # of a UUID
)

LETTERS = "ABCD"  # the actors' names; there are no more of them

Names = tuple[int, ...]  # who had the n-th name has the names[n]-th now


@cache
def _table(names: Names) -> dict[bytes, bytes]:
    letters = {LETTERS[old].encode(): LETTERS[new].encode() for old, new in enumerate(names)}
    return letters | {old.hex().encode(): new.hex().encode() for old, new in letters.items()}


@cache
def _word(word: bytes, names: Names) -> bytes:
    table = _table(names)
    return PLACES.sub(lambda found: table.get(found[0], found[0]), word)


def renamed(value: Any, names: Names) -> Any:
    """Words, replies, connections' names, and whatever holds them."""
    kind = type(value)
    if kind is bytes:
        return _word(value, names)
    if kind is str:  # a connection: its server, its actor, its number
        return value[0] + LETTERS[names[LETTERS.index(value[1])]] + value[2:]
    if kind is tuple:
        return tuple([renamed(one, names) for one in value])
    if kind is frozenset:
        return frozenset(renamed(one, names) for one in value)
    if isinstance(value, tuple):
        return kind(*[renamed(one, names) for one in value])
    return value


def state_renamed(state: State, names: Names) -> State:
    """A server's; what lies sorted in it lies sorted again."""
    made: State = renamed(state, names)
    return made._replace(
        entries=tuple(sorted(made.entries)),
        watches=tuple(sorted((who, tuple(sorted(watched))) for who, watched in made.watches)),
        queued=tuple(sorted(made.queued)),
        channels=_sorted(made.channels),
        unread=_sorted(made.unread),
    )


def _sorted(pairs: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(sorted(pairs, key=lambda pair: pair[0]))
