"""The gate: redis-py's connection, except that the other side is the search.

It stands where bytes would leave the process, so it sees what really goes out: pipelines, scripts,
the library's own retries, a lock's watchdog. A buyer's code runs in a greenlet and stops here until
the search says what the server answered.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import greenlet
import redis
from redis.connection import AbstractConnection
from redis.exceptions import ConnectionError, ResponseError, TimeoutError

from app.explorer.model.values import Command, Err, Ok, Reply


class Send(NamedTuple):
    """Waits to send `commands` on `connection`: one, or a MULTI … EXEC that goes as one."""

    connection: str
    commands: tuple[Command, ...]
    slept: bool  # since it sent last: it is waiting for something to change


class Hear(NamedTuple):
    """Waits for what the server says next on `connection`, until `until` (ms; None: for ever)."""

    connection: str
    until: int | None


class Rest(NamedTuple):
    """Waits for the clock to say `until` (ms): a watchdog between two renewals."""

    until: int


class Done(NamedTuple):
    """Has come to its end, with this result."""

    result: Any


class Failed(NamedTuple):
    """Has come to its end by an error."""

    error: str


Request = Send | Hear | Rest | Done | Failed


class Lost(NamedTuple):
    """In place of replies: the connection broke, and what was sent may have been done or not."""


Answer = tuple[Reply, ...] | Lost | None


def ask(request: Request) -> Any:
    """From a buyer's greenlet: stop here until the search knows the answer."""
    here = greenlet.getcurrent()
    return here.parent.switch(request)


class GateConnection(AbstractConnection):
    """Looks like a connection to redis-py; each has a name of its own, as the server's clients do."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.name = ""
        self.answers: list[Reply] = []
        self.open = False

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
            self.name = greenlet.getcurrent().buyer.new_connection()
            self.open = True

    def disconnect(self, *args: Any, **kwargs: Any) -> None:
        if self.open:
            greenlet.getcurrent().buyer.closed(self.name)
        self.open = False
        self.answers.clear()

    def can_read(self, timeout: float = 0) -> bool:
        return bool(self.answers)

    def send_command(self, *args: Any, **kwargs: Any) -> None:
        self.send_packed_command(self._command_packer.pack(*args))

    def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        for unit in units(unpacked(command)):
            self._send(unit)

    def _send(self, commands: tuple[Command, ...]) -> None:
        self.connect()
        buyer = greenlet.getcurrent().buyer
        answer = ask(Send(self.name, commands, buyer.has_slept()))
        if isinstance(answer, Lost):
            self.disconnect()
            raise ConnectionError("The connection broke.")
        self.answers += answer

    def read_response(
        self, disable_decoding: bool = False, *, timeout: Any = None, **kwargs: Any
    ) -> Any:
        if not self.answers:
            buyer = greenlet.getcurrent().buyer
            until = None if timeout is None else buyer.now + round(timeout * 1000)
            heard = ask(Hear(self.name, until))
            if isinstance(heard, Lost):
                self.disconnect()
                raise ConnectionError("The connection broke.")
            if heard is None:
                raise TimeoutError("Nothing was said in time.")
            self.answers += heard
        reply = native(self.answers.pop(0))
        if isinstance(reply, ResponseError):
            raise reply
        return reply


def unpacked(packed: Any) -> list[Command]:
    """The commands in what redis-py would have sent."""
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
    """What the server does without others in between: single commands, and MULTI to EXEC.

    (It runs what lies between them at EXEC only; that they were sent earlier, nobody can tell.)
    """
    found: list[tuple[Command, ...]] = []
    batch: list[Command] = []
    for command in commands:
        if batch or command[0] == b"MULTI":
            batch.append(command)
        else:
            found.append((command,))
        if batch and command[0] == b"EXEC":
            found.append(tuple(batch))
            batch = []
    return found + [(command,) for command in batch]


def native(reply: Reply) -> Any:
    """As redis-py's parsers hand it on."""
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
    if isinstance(reply, tuple):
        return [native(one) for one in reply]
    return reply
