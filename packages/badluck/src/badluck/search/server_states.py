"""The servers' states, each with a number, and the steps between them; all are cached.

There may be several servers that know nothing of each other (redlock's masters); they share the
clock. A connection's name begins with the number of its server.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from badluck.actor.request import Lost
from badluck.model.parsing import Undefined
from badluck.model.server import ModelServer
from badluck.model.server_state import ServerState
from badluck.model.values import Command, Entry, NeverAnswers, Reply
from badluck.model.waiters import Waits
from badluck.search.names import Names, renaming, state_renamed

Fill = Callable[[dict[bytes, Entry]], dict[bytes, Entry]]
Moments = Callable[[dict[bytes, Entry]], Iterable[int]]


class ServerStep(NamedTuple):
    """The result of a unit of commands: the new state, the answers, whether it changed any key.

    `by_clock`: it depends on the server's clock, and not only because keys expire.
    """

    to: int
    replies: tuple[Reply, ...] | Lost
    wrote: bool
    by_clock: bool = False


class UnsupportedCommand(NotImplementedError):
    """A command that the model cannot execute: it lacks it, or a script has no end."""

    def __init__(self, connection: str, commands: tuple[Command, ...], what: str) -> None:
        super().__init__(what)
        self.connection = connection
        self.commands = commands


def _unsupported(
    connection: str, commands: tuple[Command, ...], lacks: NotImplementedError
) -> UnsupportedCommand:
    text = f"{lacks} is not supported: the explorer's model of Redis does not know it"
    return UnsupportedCommand(connection, commands, text)


def tokens(text: bytes, name: str) -> frozenset[int]:
    """Return the numbers of that actor's tokens that occur in the text."""
    return frozenset(map(int, re.findall(rb"token-%s(\d+)" % name.encode(), text)))


class ServerStates:
    def __init__(
        self,
        servers: list[ModelServer],
        names_follow: Sequence[bytes] = (),
        moments: Moments = lambda _: (),
    ) -> None:
        """`names_follow` and `moments`: see Target."""
        self.servers = servers
        self.rename = renaming(names_follow)
        self.moments = moments
        self.states: list[tuple[ServerState, ...]] = []
        self.numbers: dict[tuple[ServerState, ...], int] = {}
        self.steps: dict[object, ServerStep | None] = {}
        self.transitions: dict[object, int] = {}
        self.held: dict[tuple[int, str], frozenset[int]] = {}
        self.due: dict[int, tuple[int, ...]] = {}
        self.start = self._number(tuple(server.state() for server in servers))

    def now(self, at: int) -> int:
        return self.states[at][0].now

    def entries(self, at: int) -> dict[bytes, Entry]:
        """Return the keys of the first server, the store."""
        return dict(self.states[at][0].entries)

    def stores(self, at: int) -> list[dict[bytes, Entry]]:
        """Return the keys of each server."""
        return [dict(state.entries) for state in self.states[at]]

    def send(self, at: int, connection: str, commands: tuple[Command, ...]) -> ServerStep:
        key = (at, connection, commands)
        step = self.steps.get(key)
        if step is None:
            step = self.steps[key] = self._send(at, connection, commands)
        return step

    def _send(self, at: int, connection: str, commands: tuple[Command, ...]) -> ServerStep:
        which = int(connection[0])
        server = self.servers[which]
        before = self.states[at][which]
        if connection in before.broken:
            return ServerStep(at, Lost(), False)
        server.load(before)
        asked_before, server.keys.told_time = server.keys.told_time, False
        try:
            answers = [server.execute(connection, command) for command in commands]
        except NotImplementedError as lacks:
            raise _unsupported(connection, commands, lacks) from lacks
        except NeverAnswers as error:
            raise UnsupportedCommand(connection, commands, str(error)) from error
        replies = [reply for reply in answers if not isinstance(reply, Waits)]
        replies += server.unread.pop(connection, [])  # what it reads next in any case
        after, by_clock = server.state(), server.keys.told_time
        server.keys.told_time = by_clock or asked_before
        to = self._with(at, which, after)
        return ServerStep(to, tuple(replies), before.entries != after.entries, by_clock)

    def hear(self, at: int, connection: str) -> ServerStep | None:
        """Return the next message; None: there is none."""
        key = (at, connection)
        if key not in self.steps:
            self.steps[key] = self._hear(at, connection)
        return self.steps[key]

    def _hear(self, at: int, connection: str) -> ServerStep | None:
        which = int(connection[0])
        state = self.states[at][which]
        if connection in state.broken:
            return ServerStep(at, Lost(), False)
        if not any(who == connection for who, _ in state.unread):
            return None
        server = self.servers[which]
        server.load(state)
        reply = server.read(connection)
        return ServerStep(self._with(at, which, server.state()), (reply,), False)

    def drop(self, at: int, connections: tuple[str, ...]) -> int:
        """Close the connections."""
        key = (at, "drop", connections)
        if key not in self.transitions:
            to = at
            for connection in connections:
                which = int(connection[0])
                server = self.servers[which]
                server.load(self.states[to][which])
                server.drop(connection)
                to = self._with(to, which, server.state())
            self.transitions[key] = to
        return self.transitions[key]

    def pass_time(self, at: int, now: int) -> int:
        key = (at, now)
        if key not in self.transitions:
            states = []
            for server, state in zip(self.servers, self.states[at], strict=True):
                server.load(state)
                try:
                    server.pass_time(now)
                except Undefined as lacks:  # of waiting clients
                    connection, command, _ = server.blocked[0]
                    raise _unsupported(connection, (command,), lacks) from lacks
                states.append(server.state())
            self.transitions[key] = self._number(tuple(states))
        return self.transitions[key]

    def written_last(self, at: int, before: int) -> int | None:
        """Return the server that a write changed since `before`; None: nothing is left of it."""
        pairs = enumerate(zip(self.states[at], self.states[before], strict=True))
        return next((n for n, (now, then) in pairs if now.entries != then.entries), None)

    def fail_over(self, at: int, before: int, which: int) -> int:
        """Replace a server by one with the state `before`."""
        key = (at, "fail over", before)
        if key not in self.transitions:
            server = self.servers[which]
            server.load(self.states[at][which])
            server.fail_over(self.states[before][which])
            self.transitions[key] = self._with(at, which, server.state())
        return self.transitions[key]

    def fill_up(self, at: int, fill: Fill) -> int:
        """Replace the store's keys by what `fill` makes of them."""
        key = (at, "fill up")
        if key not in self.transitions:
            store = self.servers[0]
            store.load(self.states[at][0])
            store.keys.entries = fill(store.keys.entries)
            self.transitions[key] = self._with(at, 0, store.state())
        return self.transitions[key]

    def deadlines(self, at: int) -> tuple[int, ...]:
        """Return when something happens by itself, in ms since 1970."""
        if at not in self.due:
            self.due[at] = tuple(self._deadlines(at))
        return self.due[at]

    def _deadlines(self, at: int) -> Iterator[int]:
        for server, state in zip(self.servers, self.states[at], strict=True):
            server.load(state)
            yield from server.deadlines()
        yield from self.moments(self.entries(at))

    def blocked(self, at: int, connection: str) -> int | None:
        """Return until when its client waits, in ms since 1970; None: not at all, or forever."""
        waits = self.states[at][int(connection[0])].blocked
        return next((wait.until for wait in waits if wait.connection == connection), None)

    def tokens(self, at: int, name: str) -> frozenset[int]:
        """Return the numbers of the actor's tokens that are the value of any key."""
        key = (at, name)
        if key not in self.held:
            entries = [entry for state in self.states[at] for _, entry in state.entries]
            text = b" ".join(entry.value for entry in entries if isinstance(entry.value, bytes))
            self.held[key] = tokens(text, name)
        return self.held[key]

    def renamed(self, at: int, names: Names) -> int:
        """Return the state after the actors have exchanged their names."""
        key = (at, names)
        if key not in self.transitions:
            states = tuple(state_renamed(state, names, self.rename) for state in self.states[at])
            self.transitions[key] = self._number(states)
        return self.transitions[key]

    def _with(self, at: int, which: int, state: ServerState) -> int:
        states = self.states[at]
        return self._number((*states[:which], state, *states[which + 1 :]))

    def _number(self, states: tuple[ServerState, ...]) -> int:
        number = self.numbers.setdefault(states, len(self.states))
        if number == len(self.states):
            self.states.append(states)
        return number
