"""Requests that an actor's code waits for, and the answers to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from badluck.model.values import Command, Reply

NEVER = 10**15  # ms since 1970
RAISED = "raised "  # begins the outcome of an exception; no answer begins so


class Send(NamedTuple):
    """Waits to send `commands` on `connection`: one, or a MULTI … EXEC that is sent as one."""

    connection: str
    commands: tuple[Command, ...]


class Hear(NamedTuple):
    """Waits for the server's next message on `connection`, until `until` (ms; None: forever)."""

    connection: str
    until: int | None


class Rest(NamedTuple):
    """Waits for the clock to say `until` (ms): a renewal between two times, or long work.

    A fiber that `sleeps` and only polls may wake at once: see Moves.idles.
    """

    until: int
    then: str = "its time has come"
    sleeps: bool = False


class Done(NamedTuple):
    """Has ended with this outcome."""

    outcome: str


class Failed(NamedTuple):
    """Has ended by an error."""

    error: str


Request = Send | Hear | Rest | Done | Failed


@dataclass(frozen=True, slots=True)
class Lost:
    """In place of replies: the connection broke, and the commands may have been done or not.

    It is not a tuple, since an empty tuple would equal an answer of no replies.
    """


Answer = tuple[Reply, ...] | Lost | None


def outcome(request: Request) -> str:
    """Return the actor's outcome; "" as long as there is none."""
    if isinstance(request, Failed):
        return "ERROR"
    return request.outcome if isinstance(request, Done) else ""
