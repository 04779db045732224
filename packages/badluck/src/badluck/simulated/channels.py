"""Channels: SUBSCRIBE and PUBLISH, and the sharded ones of Redis 7 (the same, with an S)."""

from __future__ import annotations

from collections.abc import Callable

from badluck.simulated.values import Command, Err, Reply

Send = Callable[[str, Reply], None]  # to a connection, a message
ALLOWED = {b"SUBSCRIBE", b"UNSUBSCRIBE", b"SSUBSCRIBE", b"SUNSUBSCRIBE", b"PING"}


class Channels:
    """Who listens to what. Sharded channels are another world than the others."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self.on: dict[str, set[tuple[bool, bytes]]] = {}  # connection -> (sharded, channel)

    def subscribe(self, connection: str, command: Command) -> None:
        sharded = command[0] == b"SSUBSCRIBE"
        for channel in command[1:]:
            self.on.setdefault(connection, set()).add((sharded, channel))
            self._confirm(connection, command[0], channel, sharded)

    def unsubscribe(self, connection: str, command: Command) -> None:
        sharded = command[0] == b"SUNSUBSCRIBE"
        on = self.on.get(connection, set())
        mine = sorted(channel for shard, channel in on if shard == sharded)
        for channel in command[1:] or mine or (None,):
            if channel is not None:
                on.discard((sharded, channel))
            self._confirm(connection, command[0], channel, sharded)
        if not on:
            self.on.pop(connection, None)

    def _confirm(self, connection: str, name: bytes, channel: bytes | None, sharded: bool) -> None:
        count = sum(shard == sharded for shard, _ in self.on.get(connection, ()))
        self.send(connection, (name.lower(), channel, count))

    def publish(self, command: Command) -> int:
        """Answers how many have been told."""
        name, channel, said = command
        sharded = name == b"SPUBLISH"
        told = sorted(who for who, on in self.on.items() if (sharded, channel) in on)
        for who in told:
            self.send(who, (b"smessage" if sharded else b"message", channel, said))
        return len(told)

    def refuses(self, connection: str, command: Command) -> Err | None:
        """Who listens cannot do much else (RESP2)."""
        if connection not in self.on or command[0] in ALLOWED:
            return None
        name = command[0].decode().lower()
        # What hinders an EXEC is told in its own way.
        code = "EXECABORT Transaction discarded because of:" if name == "exec" else "ERR"
        return Err(
            f"{code} Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / "
            "QUIT / RESET are allowed in this context"
        )
