"""A small Redis: one database, connections, transactions, channels, clients that block."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from app.explorer.model import commands, lists, scripts
from app.explorer.model.channels import Channels
from app.explorer.model.keyspace import Keyspace
from app.explorer.model.values import (
    OK,
    QUEUED,
    Command,
    Entry,
    Err,
    Ok,
    Refused,
    Reply,
)


class Waits:
    """In place of a reply: there is none yet, the client waits."""


WAITS: Final = Waits()
BLOCKING = {b"BLPOP": b"LPOP", b"BRPOP": b"RPOP"}
ABORTED = "EXECABORT Transaction discarded because of previous errors."


class Blocked(NamedTuple):
    """A client in BLPOP or BRPOP."""

    connection: str
    command: Command
    until: int | None  # ms since 1970


class State(NamedTuple):
    """All that the server knows. Two equal ones behave alike for ever."""

    now: int
    entries: tuple[tuple[bytes, Entry], ...]
    watches: tuple[tuple[str, tuple[tuple[bytes, bool], ...]], ...]
    queued: tuple[tuple[str, tuple[Command, ...], bool], ...]
    channels: tuple[tuple[str, frozenset[tuple[bool, bytes]]], ...]
    blocked: tuple[Blocked, ...]
    unread: tuple[tuple[str, tuple[Reply, ...]], ...]
    known: frozenset[bytes]
    broken: frozenset[str]  # connections that broke, and their clients have not noticed


class Server:
    """Executes one command after the other, as the real one does."""

    def __init__(self, now: int) -> None:
        """`now` is the clock, ms since 1970."""
        self.keys = Keyspace()
        self.keys.now = now
        self.queued: dict[str, list[Command]] = {}  # connection in MULTI -> its commands
        self.spoilt: set[str] = set()  # in MULTI, and one of them was refused
        self.channels = Channels(self._send)
        self.blocked: list[Blocked] = []
        self.unread: dict[str, list[Reply]] = {}  # connection -> what it has been sent
        self.known: dict[bytes, bytes] = {}  # sha -> script
        self.broken: set[str] = set()
        self.lua = scripts.Lua()
        self.inside = False  # in EXEC or a script, where nothing blocks

    def state(self) -> State:
        return State(
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

    def load(self, state: State) -> None:
        """Be in that state again. Scripts, once known, stay known to the interpreter."""
        self.keys.now = state.now
        self.keys.entries = dict(state.entries)
        self.keys.watches = {who: dict(watched) for who, watched in state.watches}
        self.queued = {who: list(queue) for who, queue, _ in state.queued}
        self.spoilt = {who for who, _, spoilt in state.queued if spoilt}
        self.channels.on = {who: set(on) for who, on in state.channels}
        self.blocked = list(state.blocked)
        self.unread = {who: list(sent) for who, sent in state.unread}
        self.broken = set(state.broken)

    def fail_over(self, before: State) -> None:
        """Another server takes over, and it has the keys of `before`.

        Connections that hold something of the old one (a WATCH, a subscription) are broken. The
        others were only lying ready, and their client opens new ones.
        """
        self.broken |= {*self.keys.watches, *self.queued, *self.channels.on, *self.unread}
        self.broken |= {client.connection for client in self.blocked}
        self.keys.watches, self.queued, self.spoilt = {}, {}, set()
        self.channels.on, self.unread, self.blocked = {}, {}, []
        self.keys.entries = dict(before.entries)
        self.keys.pass_time(self.keys.now)

    def pass_time(self, now: int) -> None:
        """Let the clock say `now`: keys expire, and clients whose patience is over hear nil."""
        self.keys.pass_time(now)
        for client in list(self.blocked):
            if client.until is not None and client.until < now:
                self.blocked.remove(client)
                self._send(client.connection, None)

    def deadlines(self) -> Iterable[int]:
        """When something happens by itself, ms since 1970."""
        for entry in self.keys.entries.values():
            if entry.expires is not None:
                yield entry.expires + 1
        for client in self.blocked:
            if client.until is not None:
                yield client.until + 1

    def drop(self, connection: str) -> None:
        """The connection is closed: nothing of it stays."""
        self.keys.unwatch(connection)
        self.queued.pop(connection, None)
        self.spoilt.discard(connection)
        self.channels.on.pop(connection, None)
        self.unread.pop(connection, None)
        self.broken.discard(connection)
        self.blocked = [client for client in self.blocked if client.connection != connection]

    def execute(self, connection: str, command: Command) -> Reply | Waits:
        """Do one command. WAITS: the client blocks; its reply will be among the `unread`."""
        self.keys.read, self.keys.written = set(), set()
        name = command[0].upper()
        command = (name, *command[1:])
        try:
            reply = self._execute(connection, command)
        except Refused as refused:
            if connection in self.queued:
                self.spoilt.add(connection)
            reply = Err(str(refused))
        self._serve()
        return reply

    def read(self, connection: str) -> Reply:
        """The oldest thing that the connection was sent and has not read."""
        sent = self.unread[connection]
        said = sent.pop(0)
        if not sent:
            del self.unread[connection]
        return said

    def _execute(self, connection: str, command: Command) -> Reply | Waits:
        commands.check(command)
        name = command[0]
        if refused := self.channels.refuses(connection, command):
            return refused
        if connection in self.queued and name not in {b"EXEC", b"DISCARD", b"MULTI", b"WATCH"}:
            self.queued[connection].append(command)
            return QUEUED
        if own := getattr(self, f"_{name.decode().lower()}", None):
            reply: Reply | Waits = own(connection, command)
            return reply
        return commands.TABLE[name].do(self.keys, command)

    def _multi(self, connection: str, _: Command) -> Reply:
        if connection in self.queued:
            raise Refused("ERR MULTI calls can not be nested")
        self.queued[connection] = []
        return OK

    def _discard(self, connection: str, _: Command) -> Reply:
        if connection not in self.queued:
            return Err("ERR DISCARD without MULTI")
        self._leave(connection)
        return OK

    def _exec(self, connection: str, _: Command) -> Reply:
        if connection not in self.queued:
            return Err("ERR EXEC without MULTI")
        spoilt = connection in self.spoilt
        queue, touched = self._leave(connection)
        if spoilt:
            return Err(ABORTED)
        if touched:
            return None
        return self._within(lambda: tuple(self._inner(connection, command) for command in queue))

    def _leave(self, connection: str) -> tuple[list[Command], bool]:
        """Leave MULTI: what was queued, and whether a watched key was touched."""
        self.spoilt.discard(connection)
        watched = self.keys.watches.get(connection, {})
        self.keys.read.update(watched)
        return self.queued.pop(connection), self.keys.unwatch(connection)

    def _within(self, do: Callable[[], Reply]) -> Reply:
        before, self.inside = self.inside, True
        try:
            return do()
        finally:
            self.inside = before

    def _inner(self, connection: str, command: Command) -> Reply:
        """A command inside of EXEC or of a script."""
        try:
            commands.check(command)
            own = getattr(self, f"_{command[0].decode().lower()}", None)
            reply: Reply = (
                own(connection, command)
                if own
                else commands.TABLE[command[0]].do(self.keys, command)
            )
        except Refused as refused:
            return Err(str(refused))
        return reply

    def _watch(self, connection: str, command: Command) -> Reply:
        if connection in self.queued:
            raise Refused("ERR WATCH inside MULTI is not allowed")
        self.keys.watch(connection, command[1:])
        return OK

    def _unwatch(self, connection: str, _: Command) -> Reply:
        self.keys.unwatch(connection)
        return OK

    def _eval(self, connection: str, command: Command) -> Reply:
        keys, args = scripts.parts(command)
        self.known[scripts.sha(command[1])] = command[1]
        return self._run(connection, command[1], keys, args)

    def _evalsha(self, connection: str, command: Command) -> Reply:
        keys, args = scripts.parts(command)
        text = self.known.get(command[1].lower())
        if text is None:
            return Err("NOSCRIPT No matching script. Please use EVAL.")
        return self._run(connection, text, keys, args)

    def _run(
        self, connection: str, text: bytes, keys: tuple[bytes, ...], args: tuple[bytes, ...]
    ) -> Reply:
        return self._within(
            lambda: self.lua.run(text, keys, args, lambda command: self._inner(connection, command))
        )

    def _script(self, _: str, command: Command) -> Reply:
        what = command[1].upper()
        if what == b"LOAD" and len(command) == 3:
            self.known[scripts.sha(command[2])] = command[2]
            return scripts.sha(command[2])
        if what == b"EXISTS":
            return tuple(int(sha in self.known) for sha in command[2:])
        raise NotImplementedError(f"SCRIPT {what.decode()}")

    def _subscribe(self, connection: str, command: Command) -> Waits:
        """(S)SUBSCRIBE, (S)UNSUBSCRIBE: the answers come as messages, one for each channel."""
        if self.inside:
            raise NotImplementedError(f"{command[0].decode()} inside MULTI")
        if command[0].endswith(b"UNSUBSCRIBE"):
            self.channels.unsubscribe(connection, command)
        else:
            self.channels.subscribe(connection, command)
        return WAITS

    _ssubscribe = _unsubscribe = _sunsubscribe = _subscribe

    def _publish(self, _: str, command: Command) -> Reply:
        """PUBLISH, SPUBLISH."""
        return self.channels.publish(command)

    _spublish = _publish

    def _ping(self, connection: str, command: Command) -> Reply:
        if connection in self.channels.on:
            return (b"pong", command[1] if len(command) > 1 else b"")
        return command[1] if len(command) > 1 else Ok("PONG")

    def _blpop(self, connection: str, command: Command) -> Reply | Waits:
        """BLPOP and BRPOP: the first of the keys that has something, or wait."""
        try:
            seconds = float(command[-1])
        except ValueError:
            raise Refused("ERR timeout is not a float or out of range") from None
        if seconds < 0:
            raise Refused("ERR timeout is negative")
        reply = self._pop(command)
        if reply is not None or self.inside:
            return reply
        until = self.keys.now + round(seconds * 1000) if seconds else None
        self.blocked.append(Blocked(connection, command, until))
        return WAITS

    _brpop = _blpop

    def _pop(self, command: Command) -> Reply:
        for key in command[1:-1]:
            if self.keys.value(key, tuple):
                popped = lists.pop(self.keys, (BLOCKING[command[0]], key))
                return key, popped
        return None

    def _serve(self) -> None:
        """Give those who wait what has come, the first one first."""
        for client in list(self.blocked):
            for key in client.command[1:-1]:
                # What is no list does not wake anybody, whatever lies there.
                entry = self.keys.entries.get(key)
                if entry and type(entry.value) is tuple:
                    self.blocked.remove(client)
                    popped = lists.pop(self.keys, (BLOCKING[client.command[0]], key))
                    self._send(client.connection, (key, popped))
                    break

    def _send(self, connection: str, said: Reply) -> None:
        self.unread.setdefault(connection, []).append(said)
