"""Clients that wait: for others' writes, for replicas, for a timeout."""

from __future__ import annotations

from typing import Final

from badluck.model import blocking, groups
from badluck.model.keyspace import Keyspace
from badluck.model.parsing import CommandRefused, Undefined, integer, milliseconds
from badluck.model.server_state import Blocked, Memory
from badluck.model.values import Command, Entry, Err, Reply, Stream


class Waits:
    """In place of a reply: there is none yet, the client waits."""


WAITS: Final = Waits()


class Waiters(Memory):
    """Memory, with the clients whose command has not been answered yet."""

    def __init__(self, now: int) -> None:
        """`now` is the clock, ms since 1970."""
        super().__init__(now)
        self.inside = False  # in EXEC or a script, where nothing blocks

    def take_or_wait(
        self, connection: str, command: Command, waiting: blocking.Waiting
    ) -> Reply | Waits:
        patience = waiting.patience(command)
        reply = waiting.take(self.keys, command, waiting.of(command))
        if reply is not None or self.inside or patience is None:
            return reply
        return self._block(connection, waiting.meant(self.keys, command), patience)

    def _wait(self, connection: str, command: Command) -> Reply | Waits:
        """WAIT: there are no replicas."""
        wanted, patience = integer(command[1]), milliseconds(command[2])
        if self.inside:
            raise NotImplementedError("WAIT inside MULTI or a script")
        return self._block(connection, command, patience) if wanted > 0 else 0

    def _block(self, connection: str, command: Command, ms: int) -> Waits:
        until = None if ms == blocking.FOR_EVER else self.keys.now + ms
        self.blocked.append(Blocked(connection, command, until))
        return WAITS

    def serve(self) -> None:
        """Serve waiting clients: key by key, and first the client that has waited longest."""
        ready = self.keys.ready
        while ready:
            key = ready.pop(0)
            for client in list(self.blocked):
                self._serve_one(client, key)
        for client in self.blocked:
            if client.command[0] == b"XREADGROUP":
                groups.is_there(self.keys, client.command)

    def pass_time(self, now: int) -> None:
        super().pass_time(now)
        self.serve()

    def _serve_one(self, client: Blocked, key: bytes) -> None:
        waiting = blocking.TABLE.get(client.command[0])
        entry = self.keys.get(key)
        # A value of another type wakes no client.
        if not waiting or not entry or type(entry.value) is not waiting.kind:
            return
        if key not in waiting.of(client.command):
            return
        if (
            isinstance(entry.value, Stream)
            and not entry.value.entries
            and entry.value.last > (0, 0)
        ):
            raise Undefined("a stream that comes empty, and was not always,")  # Redis 7 wakes them
        reply, entries = self._tried(client, waiting, (key,))
        # Redis 7 checks the new values first, newer servers all that the client waits for.
        if (reply, entries) != self._tried(client, waiting, waiting.of(client.command)):
            raise Undefined(f"{client.command[0].decode()} when several of its keys change at once")
        if reply is None:
            return
        if not isinstance(reply, Err):
            waiting.take(self.keys, client.command, (key,))
        self.blocked.remove(client)
        self.send(client.connection, reply)

    def _tried(
        self, client: Blocked, waiting: blocking.Waiting, of: tuple[bytes, ...]
    ) -> tuple[Reply, dict[bytes, Entry]]:
        """Return the reply that a client would get, and the keys after it."""
        keys = Keyspace()
        keys.now, keys.entries = self.keys.now, dict(self.keys.entries)
        try:
            return waiting.take(keys, client.command, of), keys.entries
        except CommandRefused as refused:
            return Err(str(refused)), keys.entries
