"""The client's connection breaks, at each step in turn, before or after the server acted."""

from __future__ import annotations

import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis
from fairlock.connections import connections
from fairlock.contender import Contender
from fairlock.queue import WaitQueue
from fairlock_waiters import NAME, Late, queue
from redis.connection import Connection, ConnectionPool
from servers.waiting import until

pytestmark = pytest.mark.again

STEPS = 12  # more than any of the tests takes


class Scissors:
    """Breaks the connection at the n-th command of all that go through its pool."""

    def __init__(self, step: int, when: str) -> None:
        self.step = step
        self.when = when
        self.commands = 0
        self.cut = False

    def client(self, url: str) -> redis.Redis:
        scissors = self
        send: Any = Connection.send_command

        class Cut(Connection):
            def send_command(self, *args: Any, **kwargs: Any) -> None:
                scissors.commands += 1
                now = scissors.commands == scissors.step
                if now and scissors.when == "before":
                    self._snip()
                send(self, *args, **kwargs)
                if now and scissors.when == "after":
                    self._snip()

            def _snip(self) -> None:
                scissors.cut = True
                link: socket.socket = self.__dict__["_sock"]
                if scissors.when == "after":
                    link.recv(65536)  # the answer: still readable after a shutdown
                link.shutdown(socket.SHUT_RDWR)

        pool = ConnectionPool.from_url(url, connection_class=Cut, socket_timeout=2)
        return redis.Redis(connection_pool=pool)


def hang_up(line: WaitQueue) -> None:
    """Close this thread's connections: the garbage collector would warn of open ones."""
    connections(line.client, line.tag).close()


def free_again(url: str) -> None:
    """Another client gets the lock, long before the lease of 30 s has ended."""
    other = queue(redis.Redis.from_url(url), 30.0)
    assert other.acquire("other", True, 10), "the lock has leaked"
    assert other.release("other")


def alone(line: WaitQueue, url: str) -> None:
    """Acquire and release a free lock."""
    if line.acquire("mine", True, 5):
        assert line.release("mine")


def behind_another(line: WaitQueue, url: str) -> None:
    """Wait for another holder, which releases once we stand in line."""
    with redis.Redis.from_url(url) as client, ThreadPoolExecutor(1) as pool:
        first = queue(client, 30.0)
        assert first.acquire("first", True, 5)
        future = pool.submit(alone, line, url)
        try:
            until(lambda: client.llen(f"{NAME}:line") > 0 or future.done())
        finally:
            assert first.release("first")
        future.result(10)


def give_up(line: WaitQueue, url: str) -> None:
    """Wait until the time is over, and leave."""
    with redis.Redis.from_url(url) as client:
        first = queue(client, 30.0)
        assert first.acquire("first", True, 5)
        try:
            assert line.acquire("mine", True, 0.3) is None
        finally:
            assert first.release("first")


@pytest.mark.parametrize("story", [alone, behind_another, give_up])
@pytest.mark.parametrize("when", ["before", "after"])
def test_the_lock_never_leaks(url: str, story: Callable[[WaitQueue, str], None], when: str) -> None:
    for step in range(1, STEPS + 1):
        with redis.Redis.from_url(url) as client:
            client.flushall()
        scissors = Scissors(step, when)
        line = queue(scissors.client(url), 30.0)
        try:
            story(line, url)
        except redis.ConnectionError:
            assert scissors.cut, "an error without a cut"
        finally:
            hang_up(line)
        free_again(url)
        if not scissors.cut:
            assert step > 2
            return
    pytest.fail("the story takes more commands than STEPS")


@pytest.mark.parametrize(
    ("when", "lapsed", "mine"),
    [("before", False, True), ("after", False, True), ("before", True, False)],
)
def test_a_release_that_is_asked_again_says_whether_the_lock_was_mine(
    url: str, when: str, lapsed: bool, mine: bool
) -> None:
    scissors, late = Scissors(0, when), Late()
    contender = Contender(scissors.client(url), NAME, 30.0, clock=late)
    with redis.Redis.from_url(url) as other:
        other.flushall()
        held = contender.acquire("mine")
        assert held
        if lapsed:  # and another client holds the lock
            late.by = 30.0
            other.set(NAME, "other")
        scissors.step = scissors.commands + 1
        assert contender.release(held) == mine
        assert scissors.cut
        assert other.get(NAME) == (b"other" if lapsed else None)
    hang_up(contender.queue)
