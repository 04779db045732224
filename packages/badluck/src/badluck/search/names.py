"""Actors exchange their names: the effect on all that goes over the wire.

Actors run the same code, and nothing in it depends on a name: only on whether two names are the
same. So if actors exchange their names, also in everything that was written or read, the run
continues as before, under other names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from badluck.model.server_state import ServerState

LETTERS = "ABCD"  # the actors' names; there are no more
TOKEN = b"token-"  # before the name in a token, as `Actor` makes them
UUID = rb"(?<=0{14})4[1-4](?=0{14})"  # the name in a UUID of shared_process_patches.py

Names = tuple[int, ...]  # the actor with the n-th name gets the names[n]-th
# Renames words, replies, connections' names and whatever holds them.
Rename = Callable[[Any, Names], Any]


@cache
def _table(names: Names) -> dict[bytes, bytes]:
    letters = {LETTERS[old].encode(): LETTERS[new].encode() for old, new in enumerate(names)}
    return letters | {old.hex().encode(): new.hex().encode() for old, new in letters.items()}


def renaming(follows: Sequence[bytes] = ()) -> Rename:
    """Make a function that renames actors in tokens, UUIDs and texts after `follows`."""
    behind = [rb"(?<=%s)[A-D]" % re.escape(text) for text in (TOKEN, *follows)]
    places = re.compile(b"|".join([*behind, UUID]))

    @cache
    def in_word(word: bytes, names: Names) -> bytes:
        table = _table(names)
        return places.sub(lambda found: table.get(found[0], found[0]), word)

    def renamed(value: Any, names: Names) -> Any:
        kind = type(value)
        if kind is bytes:
            return in_word(value, names)
        if kind is str:  # a connection: its server, its actor, its number
            return value[0] + LETTERS[names[LETTERS.index(value[1])]] + value[2:]
        if kind is tuple:
            return tuple([renamed(part, names) for part in value])
        if kind is frozenset:
            return frozenset(renamed(part, names) for part in value)
        if isinstance(value, tuple):
            return kind(*[renamed(part, names) for part in value])
        return value

    return renamed


def state_renamed(state: ServerState, names: Names, rename: Rename) -> ServerState:
    """Return a server's state under other names, sorted again."""
    made: ServerState = rename(state, names)
    return made._replace(
        entries=tuple(sorted(made.entries)),
        watches=tuple(sorted((who, tuple(sorted(watched))) for who, watched in made.watches)),
        queued=tuple(sorted(made.queued)),
        channels=_sorted(made.channels),
        unread=_sorted(made.unread),
    )


def _sorted(pairs: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(sorted(pairs, key=lambda pair: pair[0]))
