"""The gate: redis-py's connection, except that the other side is the search.

It replaces the socket, so it sees everything that leaves the process: pipelines, scripts, the
library's own retries, a lock's watchdog. An actor's code runs in a greenlet and stops here until
the search gives the server's answer.
"""

from __future__ import annotations

from typing import Any

import redis
from greenlet import getcurrent
from redis._parsers import Encoder
from redis.backoff import NoBackoff
from redis.connection import AbstractConnection, ConnectionPool
from redis.exceptions import ResponseError
from redis.retry import Retry

from badluck.actor.actor import Actor, Fiber, ask, here
from badluck.actor.request import Hear, Lost, Send
from badluck.model.blocking import note_binding
from badluck.model.values import Command, Double, Err, Ok, Reply

SENDS_ONCE = Retry(NoBackoff(), 0)
RESENDS = Retry(NoBackoff(), 10)  # as redis-py does by default
# A connection that was left behind is collected later, while any code runs.
GONE = "The actor of this connection is gone."


def pool(
    server: int = 0,
    retry: Retry = SENDS_ONCE,
    kind: type[GateConnection] | None = None,
    **more: Any,
) -> ConnectionPool:
    """Return a connection pool for redis-py's client, to the server of that number.

    `kind` is a class other than GateConnection, and `more` are its arguments.
    """
    options: dict[str, Any] = {"server": server, "protocol": 2, "driver_info": None}
    options["socket_read_size"] = 1  # it reads no socket, and there are thousands of them
    return ConnectionPool(connection_class=kind or GateConnection, retry=retry, **options, **more)


def client(
    server: int = 0, retry: Retry = SENDS_ONCE, decode_responses: bool = False
) -> redis.Redis:
    """Return a client for the actor whose code is running."""
    of = here().actor
    connections = pool(server, retry, of=of, decode_responses=decode_responses)
    return redis.Redis(connection_pool=connections)


class GateConnection(AbstractConnection):
    """A connection for redis-py. Each has a name, by which it is a client to the server."""

    def __init__(self, server: int = 0, of: Actor | None = None, **kwargs: Any) -> None:
        """`server` is the number of its server, `of` the only actor that may open it."""
        super().__init__(**kwargs)
        self.of = of
        self.server = server
        self.name = ""
        self.answers: list[Reply | Lost] = []
        self.open = False
        self.owner: Actor | None = None  # while it is open

    def repr_pieces(self) -> list[tuple[str, Any]]:
        return [("name", self.name)]

    def _host_error(self) -> str:
        return "the store"

    def _connect(self) -> Any:
        raise NotImplementedError

    @property
    def is_connected(self) -> bool:
        return self.open

    def connect(self) -> None:
        if not self.open:
            fiber = getcurrent()
            if self.of and (not isinstance(fiber, Fiber) or fiber.actor is not self.of):
                raise redis.ConnectionError(GONE)
            self.owner = here().actor
            self.name = self.owner.new_connection(self.server)
            self.open = True
            for known in list(self._connect_callbacks):
                if callback := known():
                    callback(self)  # a PubSub subscribes again

    def disconnect(self, *args: Any, **kwargs: Any) -> None:
        if self.open and self.owner:
            self.owner.hang_up(self.name)
        self.open = False
        self.answers.clear()

    def can_read(self, timeout: float | None = None) -> bool:
        """Has it a message that was requested? `timeout` None: without asking the server."""
        if not self.answers and timeout is not None:
            self._hear(timeout)
        return bool(self.answers)

    def send_command(self, *args: Any, **kwargs: Any) -> None:
        self.send_packed_command(self._command_packer.pack(*args))

    def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        for unit in units(unpacked(command)):
            self._send(unit)

    def _send(self, commands: tuple[Command, ...]) -> None:
        self.connect()
        fiber = getcurrent()
        if not isinstance(fiber, Fiber) or fiber.actor is not self.owner:
            raise redis.ConnectionError(GONE)
        answer = ask(Send(self.name, commands))
        note_binding(self.owner.bound, self.name, commands)
        self.answers += [answer] if isinstance(answer, Lost) else answer

    def read_response(
        self, disable_decoding: bool = False, *, timeout: Any = None, **kwargs: Any
    ) -> Any:
        if not self.answers:
            self._hear(timeout)
        if not self.answers:
            raise redis.TimeoutError("Nothing was said in time.")
        answer = self.answers.pop(0)
        if isinstance(answer, Lost):
            self.disconnect()
        return parsed(answer, None if disable_decoding else self.encoder)

    def _hear(self, timeout: float | None) -> None:
        """Wait at most so many seconds; None: without a limit."""
        until = None if timeout is None else here().actor.look_at_clock() + round(timeout * 1000)
        heard = ask(Hear(self.name, until))
        if heard is not None:
            self.answers += [heard] if isinstance(heard, Lost) else heard


def unpacked(packed: Any) -> list[Command]:
    """Return the commands in what redis-py would have sent."""
    text = packed if isinstance(packed, bytes) else b"".join(packed)
    commands, at = [], 0
    while at < len(text):
        end = text.index(b"\r\n", at)
        words, at = int(text[at + 1 : end]), end + 2
        command = []
        for _ in range(words):
            end = text.index(b"\r\n", at)
            size, at = int(text[at + 1 : end]), end + 2
            command.append(text[at : at + size])
            at += size + 2
        commands.append((command[0].upper(), *command[1:]))
    return commands


def units(commands: list[Command]) -> list[tuple[Command, ...]]:
    """Group commands that the server executes atomically: single ones, and MULTI to EXEC.

    (The server runs a transaction's commands at EXEC only; when they were sent makes no
    difference.)
    """
    single_or_batch: list[tuple[Command, ...]] = []
    batch: list[Command] = []
    for command in commands:
        if batch or command[0] == b"MULTI":
            batch.append(command)
        else:
            single_or_batch.append((command,))
        if batch and command[0] == b"EXEC":
            single_or_batch.append(tuple(batch))
            batch = []
    return single_or_batch + [(command,) for command in batch]


def parsed(answer: Reply | Lost, encoder: Encoder | None) -> Any:
    """Return the reply as redis-py does. Raises an error reply, or ConnectionError."""
    if isinstance(answer, Lost):
        raise redis.ConnectionError("The connection broke.")
    reply = native(answer)
    if isinstance(reply, ResponseError):
        raise reply
    return reply if encoder is None else decoded(reply, encoder)


def decoded(reply: Any, encoder: Encoder) -> Any:
    """Decode a reply as a client with decode_responses does."""
    if isinstance(reply, list):
        return [decoded(part, encoder) for part in reply]
    return encoder.decode(reply)


def native(reply: Reply) -> Any:
    """Convert a reply as redis-py's parsers do."""
    if isinstance(reply, Err):
        code, _, rest = reply.text.partition(" ")
        known = {
            "NOSCRIPT": redis.exceptions.NoScriptError,
            "EXECABORT": redis.exceptions.ExecAbortError,
        }
        return (
            known[code](rest) if code in known else ResponseError(reply.text.removeprefix("ERR "))
        )
    if isinstance(reply, Ok):
        return reply.encode()
    if isinstance(reply, Double):
        return bytes(reply)
    if isinstance(reply, tuple):
        return [native(part) for part in reply]
    return reply
