"""Connections that have left something with their server: a WATCH, a subscription, a wait.

All others are alike: the server cannot tell one of them from a new one.
"""

from __future__ import annotations

from collections.abc import Iterable

from badluck.model.blocking import may_wait
from badluck.model.values import Command

BINDS = {b"WATCH", b"MULTI", b"SUBSCRIBE", b"PSUBSCRIBE", b"SSUBSCRIBE"}
FREES = {b"EXEC", b"DISCARD", b"UNWATCH"}


def note(bound: set[str], connection: str, commands: Iterable[Command]) -> None:
    """Keep `bound` true: the connection sends these."""
    for command in commands:
        if command[0] in BINDS or may_wait(command):
            bound.add(connection)
        elif command[0] in FREES:
            bound.discard(connection)
