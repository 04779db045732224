"""zookeeper: holders and waiters whose process dies or is frozen, and a server that dies."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.domain import StoreAway
from tests.support.forked_process import Forked
from tests.support.servers import until
from tests.support.zookeeper import LIMIT, SESSION, Lock, ZooKeeperServer, waiting

pytestmark = pytest.mark.again
HANG = 20 * LIMIT  # s; it is over after one LIMIT or two, or else never


def test_a_dead_waiter_holds_up_nobody_for_longer_than_its_session(
    lock: Lock, contender: Callable[[], Forked]
) -> None:
    holder, last = lock(), lock()
    assert holder.acquire(wait_s=0)
    dead = contender()
    assert dead.says() == "waiting"
    got = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        waiting(pool, last, got.set)
        dead.kill()
        start = time.monotonic()
        assert holder.release()
        assert got.wait(SESSION + 30)
    print(f"a dead waiter held the next one up for {time.monotonic() - start:.1f} s")


def test_a_dead_holders_lock_is_free_when_its_session_ends(
    lock: Lock, contender: Callable[[], Forked]
) -> None:
    dead = contender()
    assert dead.says() == "mine"
    dead.kill()
    start = time.monotonic()
    assert lock().acquire(wait_s=SESSION + 30)
    took = time.monotonic() - start
    assert took > SESSION / 4, "not before the servers must think that it is dead"


def test_a_frozen_holder_learns_that_it_lost(lock: Lock, contender: Callable[[], Forked]) -> None:
    frozen = contender()
    assert frozen.says() == "mine"
    frozen.freeze()
    second = lock()
    assert second.acquire(wait_s=SESSION + 5)
    frozen.thaw()
    until(lambda: frozen.ask("lost"))
    assert frozen.ask("release") is False
    assert second.owned()
    assert not second.lost


def test_a_frozen_holders_release_is_told_the_truth_at_once(
    lock: Lock, contender: Callable[[], Forked]
) -> None:
    """It asks before its own client has noticed anything."""
    frozen = contender()
    assert frozen.says() == "mine"
    frozen.freeze()
    second = lock()
    assert second.acquire(wait_s=SESSION + 5)
    frozen.tell("release")
    frozen.thaw()
    assert frozen.says() is False
    assert second.owned()


def test_a_dead_server_is_told_in_time_to_holder_waiter_and_newcomer(
    lock: Lock, server: ZooKeeperServer
) -> None:
    holder, second = lock(), lock()
    assert holder.acquire(wait_s=0)
    told = threading.Event()
    holder.on_loss(told.set)
    with ThreadPoolExecutor(1) as pool:
        waiter = pool.submit(second.acquire)
        until(lambda: second.counts.waits)
        server.kill()
        start = time.monotonic()
        assert told.wait(HANG), "cut off, nobody could tell it of the end of its session"
        assert holder.lost
        with pytest.raises(StoreAway, match=r"ZooKeeper \(.+\) does not answer"):
            waiter.result(HANG)
        assert time.monotonic() - start < HANG
    for deed in (lock().acquire, holder.release):
        start = time.monotonic()
        with pytest.raises(StoreAway):
            deed()
        assert time.monotonic() - start < HANG
