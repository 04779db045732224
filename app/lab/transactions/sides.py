"""The two servers as a person at their prompts sees them: a statement in, the reply as it came.

Neither side uses the shop's clients: redis-py turns errors into exceptions with other words, and
SQLAlchemy begins transactions by itself. Here every word of both sides is seen.
"""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import ClassVar, Self

import hiredis

from app.domain import ShopError

TIMEOUT = 5  # s for each answer

Say = Callable[[str], str]


@dataclass(frozen=True)
class ServerStep:
    """One statement of one client, with the server's reply."""

    client: str
    statement: str
    reply: str
    stock: str  # as all other clients see it after that


class ServerSide(ABC):
    """One server during one case: its clients and their replies, in order."""

    ask: ClassVar[str]  # the statement that reads the stock
    restock: ClassVar[tuple[str, ...]]  # statements that leave three units, and nothing else

    def __init__(self, address: str) -> None:
        """`address`: see `throwaway.Pair`."""
        self.address = address
        self.steps: list[ServerStep] = []
        self.open = ExitStack()
        self.outside = self.connect()
        for statement in self.restock:
            self.outside(statement)

    def stock(self) -> str:
        """Return the stock as seen from outside; the look is not noted."""
        return self.outside(self.ask)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.open.close()

    def client(self, name: str) -> Say:
        """Open a connection; return a function that sends statements and notes the replies."""
        say = self.connect()

        def noted(statement: str) -> str:
            reply = say(statement)
            self.steps.append(ServerStep(name, statement, reply, self.stock()))
            return reply

        return noted

    @abstractmethod
    def connect(self) -> Say:
        """Open a connection; its statements are not noted."""


@contextmanager
def _answering(server: str, kind: type[Exception]) -> Iterator[None]:
    try:
        yield
    except kind as error:
        raise ShopError(f"{server} does not answer: {error}") from error


class Valkey(ServerSide):
    """Speaks RESP2; replies are written as redis-cli writes them, strings without quotes."""

    ask = "GET stock"
    restock = ("DEL sold", "SET stock 3")

    def connect(self) -> Say:
        plug = self.open.enter_context(socket.socket(socket.AF_UNIX))
        plug.settimeout(TIMEOUT)
        with _answering("Valkey", OSError):
            plug.connect(self.address)
        reader = hiredis.Reader(encoding="utf-8", notEnoughData=...)

        def say(statement: str) -> str:
            with _answering("Valkey", OSError):
                words = tuple(statement.split())
                plug.sendall(hiredis.pack_command(words))  # type: ignore[arg-type]  # its stub: one word
                while (reply := reader.gets()) is ...:
                    if not (received := plug.recv(4096)):
                        raise ConnectionError("the server closed the connection")
                    reader.feed(received)
            return _as_shown(reply)

        return say


def _as_shown(reply: object) -> str:
    match reply:
        case hiredis.ReplyError():
            return f"(error) {reply}"
        case int():
            return f"(integer) {reply}"
        case None:
            return "(nil)"
        case list():
            return "\n".join(f"{n}) {_as_shown(line)}" for n, line in enumerate(reply, 1))
    return str(reply)


class Postgres(ServerSide):
    """Sends every statement alone, as psql does; writes errors and command tags as psql does."""

    ask = "SELECT units FROM stock"
    restock = (
        "DROP TABLE IF EXISTS stock",
        "CREATE TABLE stock (units int)",
        "INSERT INTO stock VALUES (3)",
    )

    def connect(self) -> Say:
        import psycopg  # imported here, because only the extra `postgres` installs it

        # Autocommit: BEGIN is sent when a case sends BEGIN, and never otherwise.
        with _answering("PostgreSQL", psycopg.Error):
            connection = psycopg.connect(
                self.address,
                autocommit=True,
                connect_timeout=TIMEOUT,
                options=f"-c statement_timeout={TIMEOUT}s",
            )
        self.open.callback(connection.close)

        def say(statement: str) -> str:
            with _answering("PostgreSQL", psycopg.Error):
                try:
                    cursor = connection.execute(statement.encode())
                except psycopg.Error as error:
                    if error.diag.message_primary is None:  # not the server's error
                        raise
                    return f"{error.diag.severity}:  {error.diag.message_primary}"
            if cursor.description:
                return "\n".join(str(value) for (value,) in cursor)
            return cursor.statusmessage or ""

        return say
