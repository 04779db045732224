"""Servers without concurrent clients: for the setup before all actors, and for readers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, NoReturn, TypeVar

import redis

from badluck.actor import user_code_error
from badluck.actor.actor import Actor, Code, Files
from badluck.actor.connection import GateConnection, pool
from badluck.actor.user_code_error import UserCodeError
from badluck.functions.answers import parse_answers
from badluck.functions.client_tuple import as_argument
from badluck.functions.signature import Function, count_arguments, function_name
from badluck.model.server import ModelServer
from badluck.model.values import Command, Entry, NeverAnswers, Reply
from badluck.model.waiters import Waits
from badluck.search.names import LETTERS
from badluck.target import EPOCH

T = TypeVar("T")
WAITS = "setup and invariants may not wait for anything"
Stores = Sequence[dict[bytes, Entry]]  # the keys of each server


class InlineConnection(GateConnection):
    """A connection that is answered at once, without a step in which other actors could run."""

    def __init__(self, alone: InlineServer, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alone = alone

    def connect(self) -> None:
        if not self.open:
            self.name = self.alone.new_connection()
            self.open = True

    def disconnect(self, *args: Any, **kwargs: Any) -> None:
        if self.open:
            self.alone.servers[self.server].drop(self.name)
        self.open = False
        self.answers.clear()

    def _send(self, commands: tuple[Command, ...]) -> None:
        self.connect()
        self.answers += self.alone.ask(self.server, self.name, commands)

    def _hear(self, timeout: float | None) -> None:
        self.answers += self.alone.said(self.server, self.name)
        if not self.answers and timeout != 0:
            self.alone.refuse(WAITS)


class InlineServer:
    """Models of servers: `given` are their clients, `sent` the commands that each has received."""

    def __init__(
        self,
        files: Files,
        servers: int,
        decode_responses: bool = False,
        modules: Mapping[str, ModuleType] | None = None,
    ) -> None:
        """`modules` are the project's, as the test has them."""
        self.files, self.modules = files, modules
        self.servers = [ModelServer(EPOCH) for _ in range(servers)]
        self.sent: list[list[Command]] = [[] for _ in self.servers]
        self.connections = 0
        pools = [
            pool(which, kind=InlineConnection, alone=self, decode_responses=decode_responses)
            for which in range(servers)
        ]
        self.given = as_argument(
            [redis.Redis(connection_pool=connections) for connections in pools]
        )

    def new_connection(self) -> str:
        self.connections += 1
        return str(self.connections)

    def ask(self, which: int, connection: str, commands: Sequence[Command]) -> list[Reply]:
        """Return the server's replies."""
        try:
            answers = [self.servers[which].execute(connection, command) for command in commands]
        except (NotImplementedError, NeverAnswers) as lacks:
            self.refuse(f"{lacks} is not supported: the model of Redis does not know it")
        self.sent[which] += commands
        replies = [reply for reply in answers if not isinstance(reply, Waits)]
        return replies + self.said(which, connection)

    def said(self, which: int, connection: str) -> list[Reply]:
        """Return messages that the server has sent besides replies."""
        return self.servers[which].unread.pop(connection, [])

    def refuse(self, text: str) -> NoReturn:
        """Raises UserCodeError, with the line that is running."""
        raise UserCodeError(user_code_error.locate(sys._getframe(1), self.files, text))

    def call(self, function: Callable[[], T]) -> T:
        """Call a function with the time and randomness of actors; return its answer."""
        results: list[T] = []

        def work(_: Actor) -> str:
            try:
                results.append(function())
            except Exception as error:
                raise UserCodeError(user_code_error.describe_error(error, self.files)) from error
            return ""

        Actor(LETTERS[0], Code(work, files=self.files), EPOCH, self.modules)
        if not results:
            raise UserCodeError(f"{self.files.name}: {WAITS}")
        return results[0]


class InvariantCheck:
    """A check with servers of its own, which get the keys of each checked state."""

    def __init__(self, alone: InlineServer) -> None:
        self.alone = alone
        for server in alone.servers:
            server.keys.no_clock = True
        self.known: dict[object, str | None] = {}
        self.hears: dict[Function, bool] = {}  # does it take the actors' outcomes?

    def true(self, function: Function, stores: Stores, words: Sequence[tuple[str, str]]) -> bool:
        """`words` are the actors' answers, by name. Raises UserCodeError if the check writes."""
        return self._asked(function, stores, words) is None

    def said(self, function: Function, stores: Stores, words: Sequence[tuple[str, str]]) -> str:
        """Return the message of a failed `assert`; "" if there is none."""
        return self._asked(function, stores, words) or ""

    def _asked(
        self, function: Function, stores: Stores, words: Sequence[tuple[str, str]]
    ) -> str | None:
        """Return None if it is true, else its message."""
        if function not in self.hears:
            self.hears[function] = count_arguments(function) == 2
        heard = tuple(words) if self.hears[function] else None
        key = (function, tuple(frozenset(store.items()) for store in stores), heard)
        if key not in self.known:
            self.known[key] = self._ask(function, stores, heard)
        return self.known[key]

    def _ask(
        self,
        function: Function,
        stores: Stores,
        heard: Sequence[tuple[str, str]] | None,
    ) -> str | None:
        alone = self.alone
        for sent, server, entries in zip(alone.sent, alone.servers, stores, strict=True):
            sent.clear()
            server.keys.entries = dict(entries)
            server.keys.told_time = False

        def ask() -> str | None:
            try:
                answer = function(alone.given, *([] if heard is None else [parse_answers(heard)]))
            except AssertionError as error:
                return str(error).partition("\n")[0]
            # EXISTS and others answer 1 or 0.
            if not (isinstance(answer, int) and 0 <= answer <= 1):
                text = f"{function_name(function)} answers {answer!r:.60}, and not True or False"
                raise TypeError(text)
            return None if answer else ""

        answer = alone.call(ask)
        names_sent = {command[0] for sent in alone.sent for command in sent}
        names = ", ".join(sorted(name.decode() for name in names_sent))
        if [server.keys.entries for server in alone.servers] != [*stores]:
            raise UserCodeError(
                f"{function_name(function)} may only read, and changes a key ({names})"
            )
        if any(server.keys.told_time for server in alone.servers):
            text = "may look at keys, and at no clock, but whether something expires (TTL, HTTL …)"
            raise UserCodeError(f"{function_name(function)} {text}: {names}")
        return answer
