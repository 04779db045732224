"""Several servers for one function: a client of each, and steps that name theirs."""

from __future__ import annotations

from typing import Any

from badluck.actor.command_text import CommandText
from badluck.actor.request import Lost, Request, Send
from badluck.model.values import Reply


def as_argument(clients: list[Any]) -> Any:
    """Return a function's argument: the client, or a tuple of them for several servers."""
    return clients[0] if len(clients) == 1 else tuple(clients)


def numbered_key(key: str, server: int) -> str:
    """Name a key in a chart; the first server has no number."""
    return f"{server}: {key}" if server else key


class ServerNumberText(CommandText):
    """Text of commands with the number of the server before each: `2: SET lock A`."""

    def of(
        self, request: Request, said: tuple[Reply, ...] | Lost | None
    ) -> tuple[list[str], list[str]]:
        lines, answers = super().of(request, said)
        if isinstance(request, Send):
            lines = [numbered_key(line, int(request.connection[0])) for line in lines]
        return lines, answers
