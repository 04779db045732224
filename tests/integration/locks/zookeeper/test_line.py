"""zookeeper: first come, first served, without polling."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.locks.zookeeper import Zookeeper
from app.store.servers import Servers
from tests.support.purchases import HandClock
from tests.support.servers import until
from tests.support.zookeeper import Lock, ZooKeeperServer, end_session, waiting

# Packets that the server gets in a second besides: the tests' own commands and the pings.
NOISE = 10


def test_a_process_has_one_session(session: Callable[[], Servers]) -> None:
    """Threads that ask at once share it: a second session would be unused, and would stay."""
    servers, together = session(), threading.Barrier(16)

    def ask() -> object:
        together.wait(10)
        return servers.zookeeper

    with ThreadPoolExecutor(16) as pool:
        asked = [pool.submit(ask) for _ in range(16)]
        assert len({id(each.result(10)) for each in asked}) == 1


def test_first_come_first_served(lock: Lock) -> None:
    holder, line = lock(), [lock() for _ in range(8)]
    assert holder.acquire(wait_s=0)
    order: list[Zookeeper] = []

    def next_one(mine: Zookeeper) -> Callable[[], None]:
        def turn() -> None:
            order.append(mine)
            assert mine.release()

        return turn

    with ThreadPoolExecutor(8) as pool:
        for each in line:
            waiting(pool, each, next_one(each))
        assert not order
        assert holder.release()
    assert order == line
    fences = [each.fence for each in (holder, *line)]
    assert fences == sorted(set(fences)), "each holder's is higher than the one's before"


@pytest.mark.timed  # a client that gets no CPU for half a second loses its short session, and asks
def test_who_waits_asks_nothing_and_a_release_wakes_one(
    lock: Lock, server: ZooKeeperServer
) -> None:
    holder, line = lock(), [lock() for _ in range(32)]
    assert holder.acquire(wait_s=0)
    with ThreadPoolExecutor(32) as pool:
        for each in line:
            waiting(pool, each, each.release)
        before = server.figure("zk_packets_received")
        time.sleep(1.0)
        assert server.figure("zk_packets_received") - before < NOISE
        assert {each.counts.attempts for each in line} == {1}
        assert holder.release()
    assert {each.counts.attempts for each in line} == {2}, "each was woken for its turn only"


def test_who_gives_up_leaves_the_line(lock: Lock) -> None:
    holder, second, third = lock(), lock(), lock()
    assert holder.acquire(wait_s=0)
    assert not second.acquire(wait_s=1)  # so long that it checks, waits and checks once more
    assert not third.acquire(blocking=False)
    assert len(holder.line()) == 1
    assert (second.counts.attempts, third.counts.attempts) == (2, 1)


def test_who_is_interrupted_leaves_the_line(lock: Lock) -> None:
    holder = lock()
    assert holder.acquire(wait_s=0)

    def ctrl_c() -> None:
        assert len(holder.line()) == 2
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lock(HandClock(ctrl_c)).acquire()
    until(lambda: len(holder.line()) == 1)


def test_who_waits_while_his_session_ends_stands_in_line_again(
    session: Callable[[], Servers], lock: Lock, servers: Servers
) -> None:
    holder, second = lock(at=session()), lock()
    assert holder.acquire(wait_s=0)
    got = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        waiting(pool, second, got.set)
        before = holder.line()
        end_session(servers)
        until(lambda: len(holder.line()) == 2 and holder.line() != before)
        assert not got.is_set()
        assert holder.release()
        assert got.wait(5)
    assert second.owned()
