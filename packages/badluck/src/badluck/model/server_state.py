"""All that a server knows, and its changes while no client sends a command."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from badluck.model.channels import Channels
from badluck.model.keyspace import Keyspace
from badluck.model.scripts import sha
from badluck.model.values import Command, Entry, Hash, Reply


class Blocked(NamedTuple):
    """A client in BLPOP or another command that waits."""

    connection: str
    command: Command
    until: int | None  # ms since 1970


class ServerState(NamedTuple):
    """The whole state of a server. Two servers with equal states behave alike forever."""

    now: int
    entries: tuple[tuple[bytes, Entry], ...]
    watches: tuple[tuple[str, tuple[tuple[bytes, bool], ...]], ...]
    queued: tuple[tuple[str, tuple[Command, ...], bool], ...]
    channels: tuple[tuple[str, frozenset[tuple[bytes, bytes]]], ...]
    blocked: tuple[Blocked, ...]
    unread: tuple[tuple[str, tuple[Reply, ...]], ...]
    known: frozenset[bytes]  # the scripts, by the names for EVALSHA
    broken: frozenset[str]  # connections that broke, and their clients have not noticed


class Memory:
    """The keys, and the state that each connection has left here."""

    def __init__(self, now: int) -> None:
        """`now` is the clock, ms since 1970."""
        self.keys = Keyspace()
        self.keys.now = now
        self.queued: dict[str, list[Command]] = {}  # connection in MULTI -> its commands
        self.spoilt: set[str] = set()  # in MULTI, and one of them was refused
        self.channels = Channels(self.send)
        self.blocked: list[Blocked] = []
        self.unread: dict[str, list[Reply]] = {}  # connection -> messages to it
        self.known: set[bytes] = set()  # scripts, by their sha
        self.scripts: dict[bytes, bytes] = {}  # texts of all scripts that were known in any state
        self.broken: set[str] = set()

    def state(self) -> ServerState:
        return ServerState(
            self.keys.now,
            tuple(sorted(self.keys.entries.items())),
            tuple(
                (who, tuple(sorted(watched.items())))
                for who, watched in sorted(self.keys.watches.items())
            ),
            tuple((who, tuple(q), who in self.spoilt) for who, q in sorted(self.queued.items())),
            tuple((who, frozenset(on)) for who, on in sorted(self.channels.on.items())),
            tuple(self.blocked),
            tuple((who, tuple(sent)) for who, sent in sorted(self.unread.items())),
            frozenset(self.known),
            frozenset(self.broken),
        )

    def load(self, state: ServerState) -> None:
        """Return to that state."""
        self.keys.now = state.now
        self.keys.ready.clear()
        self.keys.entries = dict(state.entries)
        self.keys.watches = {who: dict(watched) for who, watched in state.watches}
        self.queued = {who: list(queue) for who, queue, _ in state.queued}
        self.spoilt = {who for who, _, spoilt in state.queued if spoilt}
        self.channels.on = {who: set(on) for who, on in state.channels}
        self.blocked = list(state.blocked)
        self.unread = {who: list(sent) for who, sent in state.unread}
        self.known = set(state.known)
        self.broken = set(state.broken)

    def learn(self, script: bytes) -> bytes:
        """Store a script; return its SHA."""
        name = sha(script)
        self.scripts[name] = script
        self.known.add(name)
        return name

    def fail_over(self, before: ServerState) -> None:
        """Let another server take over, with the keys of `before`.

        Connections that hold state of the old server (a WATCH, a subscription) are broken. The
        others were only idle, and their client opens new ones.
        """
        self.broken |= {*self.keys.watches, *self.queued, *self.channels.on, *self.unread}
        self.broken |= {client.connection for client in self.blocked}
        self.keys.watches, self.queued, self.spoilt = {}, {}, set()
        self.channels.on, self.unread, self.blocked = {}, {}, []
        self.keys.entries = dict(before.entries)
        self.keys.pass_time(self.keys.now)

    def pass_time(self, now: int) -> None:
        """Let the clock say `now`: keys expire, and clients whose timeout is over get nil."""
        self.keys.pass_time(now)
        for client in list(self.blocked):
            if client.until is not None and client.until < now:
                self.blocked.remove(client)
                self.send(client.connection, 0 if client.command[0] == b"WAIT" else None)

    def deadlines(self) -> Iterable[int]:
        """Return when something happens by itself, in ms since 1970."""
        for entry in self.keys.entries.values():
            if entry.expires is not None:
                yield entry.expires + 1
            if type(entry.value) is Hash:
                for _, until in entry.value.expires or ():
                    yield until + 1
        for client in self.blocked:
            if client.until is not None:
                yield client.until + 1

    def drop(self, connection: str) -> None:
        """Remove all state of a closed connection."""
        self.keys.unwatch(connection)
        self.queued.pop(connection, None)
        self.spoilt.discard(connection)
        self.channels.on.pop(connection, None)
        self.unread.pop(connection, None)
        self.broken.discard(connection)
        self.blocked = [client for client in self.blocked if client.connection != connection]

    def read(self, connection: str) -> Reply:
        """Return the oldest message that the connection has not read."""
        sent = self.unread[connection]
        reply = sent.pop(0)
        if not sent:
            del self.unread[connection]
        return reply

    def send(self, connection: str, said: Reply) -> None:
        self.unread.setdefault(connection, []).append(said)
