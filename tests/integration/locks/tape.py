"""A wire with a listener: what goes out to a server and what comes back, word for word."""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Iterable
from functools import cached_property
from importlib.resources import files
from typing import Any, ClassVar, Protocol

import redis
from fairlock.scripts import ACQUIRE, LEAVE, RELEASE, TAKE
from sqlalchemy import Engine, event
from sqlalchemy.engine.cursor import FullyBufferedCursorFetchStrategy

from app.config import Settings
from app.store import lua
from app.store.clients.redis import Metered, SendsOnce, connect
from app.store.servers import Servers

SCRIPTS = {
    script.name[:-4]: lua.source(script.name[:-4])
    for script in files(lua).iterdir()
    if script.name.endswith(".lua")
} | {f"queue/{script.name}": script.text for script in (ACQUIRE, TAKE, RELEASE, LEAVE)}
NAMES = {
    hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest(): name
    for name, text in SCRIPTS.items()
}
PARAMETER = re.compile(r"\?|%\((?P<name>\w+)\)s(::[A-Z]+( PRECISION)?(\(\d+\))?)?")
# The question for the database's clock, for each of the two databases.
NOW = re.compile(
    r"CAST\(extract\(epoch FROM clock_timestamp\(\)\) AS double precision\)"
    r"|\(\(julianday\('now'\) - 2440587\.5\) \* 86400\.0\)"
)
UNHEARD = re.compile(r"\blocks\.| AS anon_1")  # SQLAlchemy adds more than a person would type
LIMITS = ("PRAGMA", "SELECT set_config")  # timeouts: no part of any recipe


class Listener(Protocol):
    def sending(self, wire: str, commands: list[tuple[Any, ...]]) -> None:
        """Called before several commands are sent at once: a MULTI … EXEC."""

    def answered(self, reply: object) -> None:
        """Called for each reply, in order; an error is a redis.ResponseError."""

    def waiting(self) -> None:
        """Called before waiting for a message. While this runs, none is read."""

    def called(self, word: bytes) -> None:
        """Called when the message has come."""

    def said(self, statement: str, reply: str = "") -> None:
        """Called for a statement to a database, with its effect."""


class TapedServers(Servers):
    """The same servers over wires on which a listener hears and can delay everything."""

    def __init__(self, settings: Settings, listener: Listener, masters: Iterable[str]) -> None:
        super().__init__(settings)
        self.listener = listener
        self.urls = masters

    @cached_property
    def store(self) -> redis.Redis:
        return self.own_store()

    def own_store(self) -> redis.Redis:
        return self._taped(super().own_store(), "")

    @cached_property
    def masters(self) -> list[redis.Redis]:
        """Redlock's masters; what goes to the first one begins with "1: "."""
        timeout = self.settings.store_timeout
        return [
            self._taped(connect(url, timeout), f"{number}: ")
            for number, url in enumerate(self.urls, 1)
        ]

    @cached_property
    def engine(self) -> Engine:
        engine = super().engine
        committing: list[str] = []

        @event.listens_for(engine, "after_cursor_execute")
        def done(_c: Any, cursor: Any, text: str, values: Any, context: Any, _m: bool) -> None:
            if cursor.description is None:
                self._said(text, values, f"{cursor.rowcount} row{'s' * (cursor.rowcount != 1)}")
                return
            rows = deque(cursor.fetchall())  # read here, and given back to the caller
            context.cursor_fetch_strategy = FullyBufferedCursorFetchStrategy(cursor, None, rows)
            self._said(text, values, ", ".join(str(bool(answer)).lower() for (answer, *_) in rows))

        @event.listens_for(engine, "handle_error")
        def failed(error: Any) -> None:
            kind = type(error.sqlalchemy_exception).__name__
            self._said(error.statement, error.parameters, f"({kind})")

        @event.listens_for(engine, "commit")
        def commit(_connection: Any) -> None:
            committing.append("COMMIT")

        @event.listens_for(engine, "checkin")
        def committed(_connection: Any, _record: Any) -> None:
            while committing:  # reported after it is done, when others see what was written
                self.listener.said(committing.pop())

        @event.listens_for(engine, "rollback")
        def rollback(_connection: Any) -> None:
            self.listener.said("ROLLBACK")

        return engine

    def _taped(self, client: redis.Redis, wire: str) -> redis.Redis:
        pool = client.connection_pool
        heard = {"listener": self.listener, "wire": wire}
        pool.connection_class = type("Taped", (Taped, pool.connection_class), heard)
        return SendsOnce(connection_pool=pool)  # each command of a connection, as it is reported

    def _said(self, text: str, values: Any, reply: str) -> None:
        if not text.startswith(LIMITS):
            self.listener.said(sql(text, values), reply)


class Taped(Metered):
    """A real connection whose listener gets what goes out and what comes back."""

    listener: ClassVar[Listener]
    wire: ClassVar[str]

    def send_command(self, *args: Any, **kwargs: Any) -> None:
        self.listener.sending(self.wire, [args])
        super().send_command(*args, **kwargs)

    def pack_commands(self, commands: Any) -> Any:
        self.listener.sending(self.wire, list(commands))
        return super().pack_commands(commands)

    def read_response(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("timeout"):  # only a client that waits for a message has one of its own
            self.listener.waiting()
        try:
            reply = super().read_response(*args, **kwargs)
        except redis.ResponseError as error:
            self.listener.answered(error)
            raise
        match reply:
            case [b"smessage", _, word]:
                self.listener.called(word)
            case _:
                self.listener.answered(reply)
        return reply


def written(command: tuple[Any, ...]) -> str:
    """Return the command as a user would type it, with a script's name for its hash."""
    words = [word.decode() if isinstance(word, bytes) else str(word) for word in command]
    if words[0] == "EVALSHA":
        words[1:3] = [NAMES[words[1]]]
    return " ".join(word or "''" for word in words)


def told(reply: object) -> str:
    match reply:
        case None:
            return "(nil)"
        case bytes():
            return reply.decode()
        case list():
            return f"[{', '.join(told(each) for each in reply)}]"
        case redis.ResponseError():
            return f"(error) {reply}"
    return str(reply)


def sql(text: str, values: Any) -> str:
    """Return a statement in one line with its values, the same for every database."""
    nameless = iter(()) if isinstance(values, dict) else iter(values)

    def value(found: re.Match[str]) -> str:
        one = values[found["name"]] if found["name"] else next(nameless)
        return f"{one:g}" if isinstance(one, float | int) else f"'{one}'"

    line = PARAMETER.sub(value, NOW.sub("now()", " ".join(text.split())))
    return UNHEARD.sub("", line.replace("(now() + 10)", "now() + 10"))
