"""Waiters for tests, in a thread or frozen; and a counter of their commands."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
import redis
from fairlock import SystemClock
from fairlock.connections import Connections
from fairlock.queue import WaitQueue
from fairlock.waiter import Grant, Waiter
from redis.cluster import RedisCluster
from redis.connection import AbstractConnection
from servers.waiting import until

NAME = "{apple}:1:lock"
LINE, FENCE = f"{NAME}:line", f"{NAME}:fence"
handover_s = 5.0  # so long that even a slow machine skips no waiter that is awake


class ByHand(SystemClock):
    """A clock that renews when the test says so; `seconds` is the interval that it was given."""

    seconds: float
    renew: Callable[[], bool]

    def every(self, seconds: float, task: Callable[[], bool]) -> Callable[[], None]:
        self.seconds, self.renew = seconds, task
        return lambda: None


class Late(SystemClock):
    """The clock of a thread that was frozen for `by` s."""

    by = 0.0

    def now(self) -> float:
        return super().now() + self.by


class Stranger(WaitQueue):
    """A queue with a process name of its own: a release cannot take the lock for it."""

    def process(self) -> str:
        return f"{super().process()}-{id(self)}"


class Frozen(Stranger):
    """A waiter with connections of its own, apart from this thread's."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(client, NAME, 10.0, clock=SystemClock(), handover_s=handover_s)
        self.pair = apart(client)


def apart(client: redis.Redis) -> Connections:
    return Connections(client, "{apple}")


def server_of(client: redis.Redis, key: str) -> redis.Redis:
    """Return a client of the one server where `key` lives."""
    if isinstance(client, RedisCluster):
        return client.get_redis_connection(client.get_node_from_key(key))
    return client


def queue(client: redis.Redis, lease_s: float | None = 10.0, name: str = NAME) -> WaitQueue:
    return WaitQueue(client, name, lease_s, clock=SystemClock(), handover_s=handover_s)


def stranger(client: redis.Redis, lease_s: float | None = 10.0) -> WaitQueue:
    return Stranger(client, NAME, lease_s, clock=SystemClock(), handover_s=handover_s)


def enqueue(
    client: redis.Redis,
    pool: ThreadPoolExecutor,
    token: str,
    timeout_s: float | None = 10,
    reads: Sequence[str] = (),
) -> Future[Grant | None]:
    """Acquire in another thread; return when it stands in line."""
    before = client.llen(LINE)
    future = pool.submit(lambda: stranger(client).acquire(token, True, timeout_s, reads))
    until(lambda: client.llen(LINE) > before)
    return future


def enqueue_frozen(client: redis.Redis, token: str, asks: bool = False) -> Frozen:
    """Join the line like a process that was then stopped, or, if it `asks`, after asking once.

    It gets no messages. Its connection is open as long as the returned object lives.
    """
    frozen = Frozen(client)
    waiter = Waiter(frozen, token, ())
    waiter.mine = frozen.pair
    waiter.mine.subscribe()
    assert waiter.enqueue() is None
    assert not asks or waiter.try_acquire(again=True) is None
    return frozen


class Sent:
    """Commands of one thread that waited for an answer; connecting is not counted."""

    commands = 0


_counting = threading.local()


@contextmanager
def counted(sent: Sent | None) -> Iterator[None]:
    """Count into `sent` what this thread sends meanwhile; None: do not count."""
    before, _counting.sent = getattr(_counting, "sent", None), sent
    try:
        yield
    finally:
        _counting.sent = before


def count_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `counted` see each command that redis-py's connections send."""
    send: Any = AbstractConnection.send_command
    connect: Any = AbstractConnection.on_connect_check_health

    def counting(connection: Any, *args: Any, **options: Any) -> None:
        if sent := getattr(_counting, "sent", None):
            sent.commands += 1
        send(connection, *args, **options)

    def connecting(connection: Any, *args: Any, **options: Any) -> None:
        with counted(None):
            connect(connection, *args, **options)

    monkeypatch.setattr(AbstractConnection, "send_command", counting)
    monkeypatch.setattr(AbstractConnection, "on_connect_check_health", connecting)
