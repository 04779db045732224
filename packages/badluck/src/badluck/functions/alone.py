"""Servers that nobody else asks: for what comes before all actors, and for who only looks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn, TypeVar

import redis

from badluck.actor import wrong
from badluck.actor.actor import Actor
from badluck.actor.code import Code, Files
from badluck.actor.connection import GateConnection, pool
from badluck.actor.wrong import Wrong
from badluck.functions.servers import given
from badluck.search.names import LETTERS
from badluck.simulated.server import Server
from badluck.simulated.values import Command, NeverAnswers, Reply
from badluck.simulated.waiters import Waits
from badluck.target import EPOCH

T = TypeVar("T")


class AtOnce(GateConnection):
    """Is answered at once, without a step in which others could go on."""

    def __init__(self, ask: Callable[[Sequence[Command]], list[Reply]], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.ask = ask

    def connect(self) -> None:
        self.open = True

    def disconnect(self, *args: Any, **kwargs: Any) -> None:
        self.open = False
        self.answers.clear()

    def _send(self, commands: tuple[Command, ...]) -> None:
        self.connect()
        self.answers += self.ask(commands)

    def _hear(self, timeout: float | None) -> None:
        """Nobody says anything by himself."""


class Alone:
    """Models of servers; `given` is their only client or clients, `sent` what each was told."""

    def __init__(self, files: Files, servers: int, decode_responses: bool = False) -> None:
        self.files = files
        self.servers = [Server(EPOCH) for _ in range(servers)]
        self.sent: list[list[Command]] = [[] for _ in self.servers]
        asks = [partial(self._ask, which) for which in range(servers)]
        pools = [pool(kind=AtOnce, ask=ask, decode_responses=decode_responses) for ask in asks]
        self.given = given([redis.Redis(connection_pool=one) for one in pools])

    def _ask(self, which: int, commands: Sequence[Command]) -> list[Reply]:
        try:
            said = [self.servers[which].execute("0", command) for command in commands]
        except (NotImplementedError, NeverAnswers) as lacks:
            self.refuse(f"{lacks} is not supported: the model of Redis does not know it")
        self.sent[which] += commands
        return [reply for reply in said if not isinstance(reply, Waits)]

    def refuse(self, text: str) -> NoReturn:
        """Raises Wrong, with the line that is running."""
        raise Wrong(wrong.standing(sys._getframe(1), self.files, text))

    def call(self, function: Callable[[], T]) -> T:
        """What it answers, called at the beginning; time and chance are as actors have them."""
        said: list[T] = []

        def work(_: Actor) -> str:
            try:
                said.append(function())
            except Exception as error:
                raise Wrong(wrong.in_words(error, self.files)) from error
            return ""

        Actor(LETTERS[0], Code(work, files=self.files), EPOCH)
        if not said:
            raise Wrong(f"{self.files.name}: setup and invariants may not wait for anything")
        return said[0]
