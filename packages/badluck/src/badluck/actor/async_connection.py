"""The gate for redis.asyncio, and how functions that are `async def` are called."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import redis
import redis.asyncio
from redis.asyncio.connection import AbstractConnection, ConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from badluck.actor import user_code_error
from badluck.actor.actor import Fiber, here
from badluck.actor.connection import parsed, units, unpacked
from badluck.actor.event_loop import Flight, Loop, run
from badluck.actor.request import Lost
from badluck.actor.user_code_error import UserCodeError

CHANNELS = {b"SUBSCRIBE", b"PSUBSCRIBE", b"SSUBSCRIBE"}


def call(function: Callable[..., object], arguments: Sequence[Any]) -> object:
    """Return the function's answer; one that is `async def` gets clients of redis.asyncio.

    Raises UserCodeError for a plain function that answers a coroutine.
    """
    if inspect.iscoroutinefunction(function):
        return run(function(*map(_for_coroutines, arguments)))
    answer = function(*arguments)
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        name = getattr(function, "__name__", type(function).__name__)
        raise UserCodeError(f"{name} answers what is to be awaited: write `async def {name}`")
    return answer


def _for_coroutines(argument: Any) -> Any:
    if isinstance(argument, tuple):  # of several servers
        return tuple(map(_for_coroutines, argument))
    return client(argument) if isinstance(argument, redis.Redis) else argument


def client(like: redis.Redis) -> redis.asyncio.Redis:
    """Return a client of the same server, with the same retries and decoding."""
    options = like.connection_pool.connection_kwargs
    retry = Retry(NoBackoff(), options["retry"].get_retries())
    pool = ConnectionPool(
        connection_class=AsyncGateConnection,
        retry=retry,
        server=options["server"],
        decode_responses=options.get("decode_responses", False),
        protocol=2,
        driver_info=None,
        socket_read_size=1,
    )
    return redis.asyncio.Redis(connection_pool=pool)


class AsyncGateConnection(AbstractConnection):
    """A GateConnection for asyncio: while a task awaits a reply, other tasks of its loop run."""

    def __init__(self, server: int = 0, **kwargs: Any) -> None:
        """`server` is the number of its server."""
        super().__init__(**kwargs)
        self.server = server
        self.flight: Flight | None = None  # while it is open

    def repr_pieces(self) -> list[tuple[str, Any]]:
        return [("server", self.server)]

    def _host_error(self) -> str:
        return "the store"

    async def _connect(self) -> NoReturn:
        raise NotImplementedError

    @property
    def is_connected(self) -> bool:
        return self.flight is not None

    async def connect(self) -> None:
        if self.flight is None:
            loop = asyncio.get_running_loop()
            if not isinstance(loop, Loop):
                raise redis.ConnectionError("The actor of this connection is gone.")
            self.flight = Flight(loop, loop.actor.new_connection(self.server))

    async def disconnect(self, *args: Any, **kwargs: Any) -> None:
        self._close()

    def _close(self) -> None:
        if self.flight and self.flight.open:
            self.flight.close()
        self.flight = None

    async def can_read(self) -> bool:
        return bool(self.flight and self.flight.answers)

    async def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        await self.connect()
        flight = self._mine()
        sent = units(unpacked(command))
        if CHANNELS.intersection(command[0] for unit in sent for command in unit):
            raise user_code_error.refuse_here(
                "subscribes with redis.asyncio, which is not supported; redis.Redis can"
            )
        try:
            await flight.send(sent)
        except BaseException:
            self.flight = None
            raise

    async def read_response(
        self, disable_decoding: bool = False, timeout: float | None = None, **kwargs: Any
    ) -> Any:
        flight = self._mine()
        if not flight.answers:
            try:
                await flight.hear(_until(timeout))
            except BaseException:
                self.flight = None
                raise
        if not flight.answers:
            return None  # as redis-py, to who says for how long
        answer = flight.answers.pop(0)
        if isinstance(answer, Lost):
            self._close()
        return parsed(answer, None if disable_decoding else self.encoder)

    def _mine(self) -> Flight:
        flight = self.flight
        if flight is None or not isinstance(here(), Fiber) or here().loop is not flight.loop:
            raise redis.ConnectionError("The actor of this connection is gone.")
        if flight.waits:
            raise user_code_error.refuse_here(
                "uses a connection in two tasks at once; each needs one of its own"
            )
        return flight


def _until(seconds: float | None) -> int | None:
    if seconds is None or seconds == math.inf:
        return None
    return here().actor.look_at_clock() + round(seconds * 1000)
