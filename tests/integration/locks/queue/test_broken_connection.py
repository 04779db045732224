"""The client's connection breaks, at each step in turn, before or after the server acted."""

from __future__ import annotations

import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis
from redis.connection import Connection, ConnectionPool

from app.domain import Clock
from app.locks.queue.connections import connections
from app.locks.queue.contender import Contender
from app.locks.queue.line import Line
from app.store.redis import Metered
from tests.servers import StoreServer, until

pytestmark = pytest.mark.again

NAME = "{apple}:1:lock"
STEPS = 12  # more than any of the stories takes


class Scissors:
    """Cuts the connection at the n-th command of all that go through its pool."""

    def __init__(self, step: int, when: str) -> None:
        self.step = step
        self.when = when
        self.commands = 0
        self.cut = False

    def client(self, url: str) -> redis.Redis:
        scissors = self

        class Cut(Metered, Connection):
            def send_command(self, *args: Any, **kwargs: Any) -> None:
                scissors.commands += 1
                now = scissors.commands == scissors.step
                if now and scissors.when == "before":
                    self._snip()
                super().send_command(*args, **kwargs)
                if now and scissors.when == "after":
                    self._snip()

            def _snip(self) -> None:
                scissors.cut = True
                link: socket.socket = self.__dict__["_sock"]
                if scissors.when == "after":
                    link.recv(65536)  # the answer: what has come can be read after a shutdown, too
                link.shutdown(socket.SHUT_RDWR)

        pool = ConnectionPool.from_url(url, connection_class=Cut, socket_timeout=2)
        return redis.Redis(connection_pool=pool)


def hang_up(line: Line) -> None:
    """Close what this thread has opened: left to the garbage collector, it would be warned of."""
    connections(line.client, line.tag).close()


class Late(Clock):
    """As if this process had been frozen for `by` s."""

    by = 0.0

    def now(self) -> float:
        return super().now() + self.by


def free_again(url: str) -> None:
    """Somebody else can have the lock, long before the lease of 30 s has ended."""
    other = Line(redis.Redis.from_url(url), Clock(), NAME, 30.0)
    assert other.acquire("other", True, 10), "the lock has leaked"
    assert other.release("other")


def alone(line: Line, url: str) -> None:
    """Acquire and release a free lock."""
    if line.acquire("mine", True, 5):
        assert line.release("mine")


def behind_another(line: Line, url: str) -> None:
    """Wait for another holder, who releases once we stand in line."""
    with redis.Redis.from_url(url) as client, ThreadPoolExecutor(1) as pool:
        first = Line(client, Clock(), NAME, 30.0)
        assert first.acquire("first", True, 5)
        future = pool.submit(alone, line, url)
        try:
            until(lambda: client.llen(f"{NAME}:line") > 0 or future.done())
        finally:
            assert first.release("first")
        future.result(10)


def give_up(line: Line, url: str) -> None:
    """Wait in vain, and leave."""
    with redis.Redis.from_url(url) as client:
        first = Line(client, Clock(), NAME, 30.0)
        assert first.acquire("first", True, 5)
        try:
            assert line.acquire("mine", True, 0.3) is None
        finally:
            assert first.release("first")


@pytest.mark.parametrize("story", [alone, behind_another, give_up])
@pytest.mark.parametrize("when", ["before", "after"])
def test_the_lock_never_leaks(
    store_server: StoreServer, story: Callable[[Line, str], None], when: str
) -> None:
    for step in range(1, STEPS + 1):
        with redis.Redis.from_url(store_server.url) as client:
            client.flushall()
        scissors = Scissors(step, when)
        line = Line(scissors.client(store_server.url), Clock(), NAME, 30.0)
        try:
            story(line, store_server.url)
        except redis.ConnectionError:
            assert scissors.cut, "an error, but not ours"
        finally:
            hang_up(line)
        free_again(store_server.url)
        if not scissors.cut:
            assert step > 2
            return
    pytest.fail("the story takes more commands than STEPS")


@pytest.mark.parametrize(
    ("when", "lapsed", "mine"),
    [("before", False, True), ("after", False, True), ("before", True, False)],
)
def test_a_release_that_is_asked_again_says_whether_the_lock_was_mine(
    store_server: StoreServer, when: str, lapsed: bool, mine: bool
) -> None:
    scissors, late = Scissors(0, when), Late()
    contender = Contender(scissors.client(store_server.url), late, NAME, 30.0)
    with redis.Redis.from_url(store_server.url) as other:
        other.flushall()
        held = contender.acquire("mine")
        assert held
        if lapsed:  # and another has come
            late.by = 30.0
            other.set(NAME, "other")
        scissors.step = scissors.commands + 1
        assert contender.release(held) == mine
        assert scissors.cut
        assert other.get(NAME) == (b"other" if lapsed else None)
    hang_up(contender.line)
