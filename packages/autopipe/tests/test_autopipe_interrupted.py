"""A thread is interrupted at any point: the others get their own replies, and the next ones too."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count, cycle, islice
from pathlib import Path
from types import FrameType
from typing import Any

import autopipe
import pytest
import redis
from autopipe import line as line_module
from autopipe_servers import Proxy, Server, until

LINES = Path(line_module.__file__).read_text().splitlines()


class Stop(BaseException):
    """As KeyboardInterrupt, or a thread that a framework ends."""


class Interrupts:
    """Raises Stop at the n-th line of line.py that its thread comes to.

    Not at a `with`: the interpreter lets nothing come between its body's end and the unlocking.
    """

    def __init__(self, at: int) -> None:
        self.left = at
        self.where = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> Interrupts | None:
        if frame.f_code.co_filename != line_module.__file__:
            return None
        if event == "line" and not LINES[frame.f_lineno - 1].lstrip().startswith("with "):
            self.left -= 1
            if self.left == 0:
                self.where = frame.f_lineno
                raise Stop
        return self


def interrupted(client: autopipe.Redis, at: int) -> int:
    """Where; 0 when it came through."""
    tracer = Interrupts(at)
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        client.echo("mine")
    except Stop:
        pass
    finally:
        sys.settrace(before)
    return tracer.where


def echoes(
    client: autopipe.Redis, words: list[str], wrong: list[str], halt: threading.Event
) -> None:
    while not halt.is_set():
        for word in words:
            try:
                said = client.echo(word)
            except redis.ConnectionError:
                continue
            if said != word.encode():
                wrong.append(f"{word}: {said!r}")


def test_at_each_line_of_one_that_leads(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_module, "SLOW_S", -1.0)
    with autopipe.Redis.from_url(server.url, socket_timeout=2) as client:
        line = client._line
        for at in count(1):
            line.close()  # so that it connects, too
            line.crowd = 2  # and waits for another
            where = interrupted(client, at)
            assert line.leader is None
            assert client.echo("next") == b"next"
            if not where:
                break
    assert at > 40


def test_at_each_line_among_others(server: Server, pool: ThreadPoolExecutor) -> None:
    """Until it was interrupted where it leads, too; it does not lead every time."""
    wrong: list[str] = []
    reached: set[int] = set()
    halt = threading.Event()
    with autopipe.Redis.from_url(server.url, socket_timeout=2) as client:
        crowd = [pool.submit(echoes, client, [f"{n}a", f"{n}b"], wrong, halt) for n in range(2)]
        for at in islice(cycle(range(1, 50)), 5_000):
            reached.add(interrupted(client, at))
            with suppress(redis.ConnectionError):  # it was sent with what was interrupted
                assert client.echo("next") == b"next"
            if len(reached) > 25 and at == 49:
                break
        halt.set()
        for each in crowd:
            each.result(10)
    assert not wrong
    assert len(reached) > 25


@pytest.fixture
def held(proxy: Proxy) -> Iterator[autopipe.Redis]:
    with autopipe.Redis.from_url(
        proxy.url, socket_timeout=5, driver_info=None, protocol=2
    ) as client:
        client.delete("n")
        proxy.passes = 0
        yield client


@pytest.fixture
def by_signal() -> Iterator[Any]:
    """Ctrl-C for the main thread, once `what` is true."""
    threads = []

    def when(what: Any) -> None:
        def press() -> None:
            until(what)
            os.kill(os.getpid(), signal.SIGINT)

        threads.append(threading.Thread(target=press))
        threads[-1].start()

    yield when
    for thread in threads:
        thread.join()


def test_ctrl_c_on_the_leader(
    held: autopipe.Redis, proxy: Proxy, pool: ThreadPoolExecutor, by_signal: Any
) -> None:
    line = held._line
    asked: list[Any] = []

    def others() -> bool:
        if len(line.sent) == 1 and not asked:
            asked.append(pool.submit(held.incr, "n"))
        return len(line.waiting) == 1

    by_signal(others)
    with pytest.raises(KeyboardInterrupt):
        held.incr("n")
    proxy.passes = None
    assert asked[0].result(10) == 2
    assert held.incr("n") == 3


def test_ctrl_c_on_the_leader_of_a_packet(
    held: autopipe.Redis, proxy: Proxy, pool: ThreadPoolExecutor, by_signal: Any
) -> None:
    line = held._line
    first = pool.submit(held.incr, "n")
    until(lambda: len(line.sent) == 1)
    asked: list[Any] = []

    def a_packet() -> bool:
        if len(line.waiting) == 1 and not asked:
            asked.append(pool.submit(held.incr, "n"))
            until(lambda: len(line.waiting) == 2)
            proxy.passes = 1
        return bool(asked) and len(line.sent) == 2 and len(proxy.held.splitlines()) == 2

    by_signal(a_packet)
    with pytest.raises(KeyboardInterrupt):
        held.incr("n")
    proxy.passes = None
    assert first.result(10) == 1
    assert isinstance(asked[0].exception(10), redis.ConnectionError)  # in doubt, and at once
    assert held.incr("n") == 4  # both were done, once


def test_ctrl_c_on_one_that_waits(
    held: autopipe.Redis, proxy: Proxy, pool: ThreadPoolExecutor, by_signal: Any
) -> None:
    line = held._line
    first = pool.submit(held.incr, "n")
    until(lambda: len(line.sent) == 1)
    by_signal(lambda: len(line.waiting) == 1)
    with pytest.raises(KeyboardInterrupt):
        held.incr("n")
    proxy.passes = None
    assert first.result(10) == 1
    assert held.incr("n") == 2  # what waited was never sent
