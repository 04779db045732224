"""The server's states, each with a number, and what leads from one to the next; all remembered."""

from __future__ import annotations

from typing import NamedTuple

from app.explorer.model.server import Server, State, Waits
from app.explorer.model.values import Command, Reply


class Step(NamedTuple):
    """After a unit of commands: the server's new state, and what was answered."""

    to: int
    replies: tuple[Reply, ...]


class World:
    def __init__(self, server: Server) -> None:
        self.server = server
        self.states: list[State] = []
        self.numbers: dict[State, int] = {}
        self.steps: dict[tuple[int, str, tuple[Command, ...]], Step] = {}
        self.others: dict[tuple[int, str, object], Step] = {}
        self.start = self._number()

    def send(self, at: int, connection: str, commands: tuple[Command, ...]) -> Step:
        key = (at, connection, commands)
        if key not in self.steps:
            self.server.load(self.states[at])
            said = [self.server.execute(connection, command) for command in commands]
            replies = tuple(reply for reply in said if not isinstance(reply, Waits))
            self.steps[key] = Step(self._number(), replies)
        return self.steps[key]

    def hear(self, at: int, connection: str) -> Step | None:
        """None: nothing has been said."""
        if not any(who == connection for who, _ in self.states[at].unread):
            return None
        key = (at, "hear", connection)
        if key not in self.others:
            self.server.load(self.states[at])
            reply = self.server.read(connection)
            self.others[key] = Step(self._number(), (reply,))
        return self.others[key]

    def drop(self, at: int, connections: tuple[str, ...]) -> int:
        key = (at, "drop", connections)
        if key not in self.others:
            self.server.load(self.states[at])
            for connection in connections:
                self.server.drop(connection)
            self.others[key] = Step(self._number(), ())
        return self.others[key].to

    def _number(self) -> int:
        state = self.server.state()
        number = self.numbers.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
        return number
