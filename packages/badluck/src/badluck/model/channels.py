"""Channels: SUBSCRIBE, by name or by pattern, and PUBLISH; and the sharded ones of Redis 7."""

from __future__ import annotations

from collections.abc import Callable

from badluck.model.parsing import Undefined
from badluck.model.scans import glob
from badluck.model.values import Command, Err, Reply

Send = Callable[[str, Reply], None]  # to a connection, a message
# By the first letter: of a pattern, of a sharded channel, else of a channel.
BY_NAME, PATTERN, SHARDED = b"", b"P", b"S"
KINDS = (BY_NAME, PATTERN, SHARDED)
LISTENS = {kind + word for kind in KINDS for word in (b"SUBSCRIBE", b"UNSUBSCRIBE")}
ALLOWED = LISTENS | {b"PING"}


class Channels:
    """Subscriptions by connection. Sharded channels are separate from the others."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self.on: dict[str, set[tuple[bytes, bytes]]] = {}  # connection -> (kind, channel)

    def subscribe(self, connection: str, command: Command) -> None:
        kind = command[0].removesuffix(b"SUBSCRIBE")
        for channel in command[1:]:
            self.on.setdefault(connection, set()).add((kind, channel))
            self._confirm(connection, command[0], channel, kind)

    def unsubscribe(self, connection: str, command: Command) -> None:
        kind = command[0].removesuffix(b"UNSUBSCRIBE")
        on = self.on.get(connection, set())
        mine = sorted(channel for of, channel in on if of == kind)
        for channel in command[1:] or mine or (None,):
            if channel is not None:
                on.discard((kind, channel))
            self._confirm(connection, command[0], channel, kind)
        if not on:
            self.on.pop(connection, None)

    def _confirm(self, connection: str, name: bytes, channel: bytes | None, kind: bytes) -> None:
        count = sum((of == SHARDED) == (kind == SHARDED) for of, _ in self.on.get(connection, ()))
        self.send(connection, (name.lower(), channel, count))

    def publish(self, command: Command) -> int:
        """Return how many clients got the message. Raises Undefined for two matching patterns of
        one client.
        """
        name, channel, message = command
        kind = name.removesuffix(b"PUBLISH")
        listeners = sorted(who for who, on in self.on.items() if (kind, channel) in on)
        for who in listeners:
            self.send(who, (kind.lower() + b"message", channel, message))
        return len(listeners) + (
            self._publish_by_pattern(channel, message) if kind == BY_NAME else 0
        )

    def _publish_by_pattern(self, channel: bytes, said: bytes) -> int:
        listeners = 0
        for who, on in sorted(self.on.items()):
            fit = [
                pattern for of, pattern in on if of == PATTERN and glob(pattern).fullmatch(channel)
            ]
            if len(fit) > 1:
                raise Undefined("a message that two patterns of one client fit")
            for pattern in fit:
                self.send(who, (b"pmessage", pattern, channel, said))
            listeners += len(fit)
        return listeners

    def counted(self, command: Command) -> Reply:
        """PUBSUB: the number of each channel's subscribers, or of patterns."""
        _, what, *channels = command
        on = [subscription for each in self.on.values() for subscription in each]
        match what.upper():
            case b"NUMSUB" | b"SHARDNUMSUB" as of:
                kind = SHARDED if of == b"SHARDNUMSUB" else BY_NAME
                return tuple(w for name in channels for w in (name, on.count((kind, name))))
            case b"NUMPAT":
                return len({name for kind, name in on if kind == PATTERN})
        raise NotImplementedError(f"PUBSUB {what.decode()}")

    def refuses(self, connection: str, command: Command) -> Err | None:
        """Refuse most commands of a subscribed connection (RESP2)."""
        if connection not in self.on or command[0] in ALLOWED:
            return None
        name = command[0].decode().lower()
        # An EXEC that is refused has an error message of its own.
        code = "EXECABORT Transaction discarded because of:" if name == "exec" else "ERR"
        return Err(
            f"{code} Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / "
            "QUIT / RESET are allowed in this context"
        )
