"""The store's client: the one place that decides time-outs, retries, connections and counting.

Never resend. redis-py retries ten times by default, and resends commands that are not idempotent:
when a reply is lost, the XADD or the script runs again and sells twice. Here nothing is sent twice.
A lost reply becomes StoreAway, the buyer gets 503, and a retry with the same idempotency key finds
the sale if there was one.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, cast

import redis
from redis.backoff import NoBackoff
from redis.connection import AbstractConnection, ConnectionPool
from redis.maint_notifications import MaintNotificationsConfig
from redis.retry import Retry

from app.checks import CLUSTER
from app.domain import StoreAway
from app.store.clients.cluster import Cluster

NEVER_RESEND = Retry(NoBackoff(), 0)
# s. A connection in steady use notices by itself that the server went; a look each time would
# cost one more system call for every command.
IDLE = 0.5


@dataclass(slots=True)
class Wire:
    """The traffic of one purchase: writes that waited for a reply, and the commands in them.

    EVALSHA counts as one command; a MULTI…EXEC batch is one round trip and as many commands as
    it sends, MULTI and EXEC among them. Connecting is not counted.
    """

    round_trips: int = 0
    commands: int = 0


_wire: ContextVar[Wire | None] = ContextVar("wire", default=None)


@contextmanager
def metered(wire: Wire | None) -> Iterator[None]:
    """Count into `wire` the commands that this thread sends in the block; None: do not count."""
    token = _wire.set(wire)
    try:
        yield
    finally:
        _wire.reset(token)


def sent(commands: int) -> None:
    """Count one round trip with so many commands."""
    if wire := _wire.get():
        wire.round_trips += 1
        wire.commands += commands


Meet = Callable[["Metered"], None]


class Metered(AbstractConnection):
    """A connection that counts: only here are pipelines, scripts and retries seen alike."""

    look_after = 0.0  # s of time.monotonic(): when it has lain idle for long enough to be checked
    in_use = False  # the pool has given it out, open
    meet: Meet | None = None

    def on_connect_check_health(self, check_health: bool = True) -> None:
        with metered(None):
            super().on_connect_check_health(check_health=check_health)
            if self.meet:
                try:
                    self.meet(self)
                except BaseException:  # close it on any error, so that it cannot be reused
                    self.disconnect()
                    raise

    def send_command(self, *args: Any, **kwargs: Any) -> None:
        self._check_open()
        sent(1)
        super().send_command(*args, **kwargs)

    def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        self._check_open()
        super().send_packed_command(command, check_health)

    def _check_open(self) -> None:
        """Refuse to reconnect while the connection is in use, as redis-py would.

        A WATCH is lost with its connection: EXEC on a new one would overwrite other clients'
        writes.
        """
        if self.in_use and not self.is_connected:
            raise redis.ConnectionError("The connection was closed while it was in use.")

    def pack_commands(self, commands: Any) -> Any:
        sent(len(commands))
        return super().pack_commands(commands)


class ThreadPool(ConnectionPool):
    """Each thread keeps its own connections: no lock to queue for, and warm buffers.

    A thread borrows as many connections as it needs at once (a WATCH holds one), and returns them
    for its own later use. They close when the thread ends.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._own = threading.local()
        self._every: weakref.WeakSet[Metered] = weakref.WeakSet()

    def _idle(self) -> list[Metered]:
        idle: list[Metered] = self._own.__dict__.setdefault("idle", [])
        return idle

    def make_connection(self) -> Any:
        """Return a new connection that is not connected and has no owner yet."""
        connection = cast(Metered, self.connection_class(**self.connection_kwargs))
        self._every.add(connection)
        return connection

    def get_connection(self, command_name: str | None = None, *keys: Any, **options: Any) -> Any:
        """Return a connected connection; one that the server closed while idle is reopened.

        Nothing was sent on it, so this is no resend.
        """
        idle = self._idle()
        connection: Metered = idle.pop() if idle else self.make_connection()
        try:
            connection.connect()
            if time.monotonic() > connection.look_after and _closed(connection):
                connection.disconnect()
                connection.connect()
        except BaseException:
            self.release(connection)
            raise
        connection.in_use = True
        return connection

    def release(self, connection: Any) -> None:
        connection.in_use = False
        connection.look_after = time.monotonic() + IDLE
        self._idle().append(connection)

    def disconnect(self, inuse_connections: bool = True) -> None:
        for connection in list(self._every):
            connection.disconnect()


def _closed(connection: Metered) -> bool:
    """Return whether the server closed the connection, or sent a reply that was not asked for.

    In the second case, the replies would be out of step with the commands.
    """
    try:
        return bool(connection.can_read())
    except (redis.ConnectionError, redis.TimeoutError):
        return True


class SendsOnce(redis.Redis):
    """redis-py's client without its machinery for resending (pipelines: see NEVER_RESEND).

    It owns its pool, and closes it when it is closed or collected.
    """

    def execute_command(self, *args: Any, **options: Any) -> Any:
        connection = self.connection_pool.get_connection()
        try:
            connection.send_command(*args)
            return self.parse_response(connection, args[0], **options)
        except redis.ResponseError:
            raise  # the server's answer: the connection is in step
        except BaseException:
            connection.disconnect()
            raise
        finally:
            self.connection_pool.release(connection)


def connect(url: str, timeout_ms: int, meet: Meet | None = None) -> redis.Redis:
    """Return a client for `url` that gives up after `timeout_ms` at every step and never resends.

    `meet` is called with each new connection before its first command: the server behind it may
    have changed, or have lost data. If `meet` raises, the connection is not used.
    """
    if not url.startswith(CLUSTER):
        return SendsOnce.from_pool(_pool(url, timeout_ms, meet))
    return Cluster(
        url,
        timeout_ms / 1000,
        lambda node: SendsOnce.from_pool(_pool(node, timeout_ms, meet)),
    )


def _pool(url: str, timeout_ms: int, meet: Meet | None) -> ThreadPool:
    pool = ThreadPool.from_url(
        url,
        socket_timeout=timeout_ms / 1000,
        socket_connect_timeout=timeout_ms / 1000,
        retry=NEVER_RESEND,
        protocol=2,
        driver_info=None,
        maint_notifications_config=MaintNotificationsConfig(enabled=False),
    )
    # The URL has chosen the kind of connection (TCP, TLS, Unix socket); each can be metered.
    own = {"meet": staticmethod(meet)} if meet else {}
    pool.connection_class = type("Metered", (Metered, pool.connection_class), own)
    return pool


@contextmanager
def answering() -> Iterator[None]:
    """Turn every error of the store into StoreAway.

    Not only lost connections: a server that is loading, read-only, out of memory or cannot write
    its log (MISCONF) is away for a buyer in the same way.
    """
    try:
        yield
    except redis.RedisError as error:
        raise StoreAway(f"The store does not answer: {error}") from error
