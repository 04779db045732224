"""zookeeper: requests whose answer never comes leave no place behind."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import pytest
from kazoo.client import KazooClient

from app.domain import StoreAway
from app.locks.zookeeper import Zookeeper
from tests.support.servers import until
from tests.support.zookeeper import LIMIT, Lock, ZooKeeperServer

pytestmark = pytest.mark.timed


def freeze(server: ZooKeeperServer, deed: Callable[[], object]) -> None:
    """Freeze the server, do it, and check that the error comes in time."""
    server.freeze()
    start = time.monotonic()
    with pytest.raises(StoreAway, match="does not answer"):
        deed()
    assert time.monotonic() - start < 20 * LIMIT


def cut(client: KazooClient) -> None:
    """Break the connection once a request is on its way (unless kazoo has broken it already)."""
    until(lambda: client._pending or not client.connected)
    with suppress(OSError):
        client._connection._socket.shutdown(socket.SHUT_RDWR)
    until(lambda: not client.connected)


def number(lock: Zookeeper) -> int:
    """Return the number of its place in line."""
    return int(lock.line()[0][-10:])


def test_who_was_cut_off_for_a_moment_was_told_and_yet_releases_its_own(lock: Lock) -> None:
    holder = lock()
    assert holder.acquire(wait_s=0)
    holder.zookeeper.client._connection._socket.shutdown(socket.SHUT_RDWR)
    until(lambda: holder.lost)
    until(lambda: holder.zookeeper.session)
    assert holder.owned()
    assert holder.release()
    assert holder.counts.losses == 1


@pytest.mark.parametrize("and_then", ["thaws", "breaks the connection"])
def test_a_place_that_was_made_after_its_maker_gave_up_does_not_stay(
    lock: Lock, server: ZooKeeperServer, and_then: str
) -> None:
    first = lock()
    assert first.acquire(wait_s=0)
    before = number(first)
    assert first.release()
    freeze(server, lock().acquire)
    if and_then != "thaws":
        cut(first.zookeeper.client)
    server.thaw()
    last = lock()
    until(lambda: last.zookeeper.session)
    assert last.acquire(wait_s=5)
    assert number(last) == before + 2, "there was one between"


def test_a_place_whose_makers_connection_broke_does_not_stay(
    lock: Lock, server: ZooKeeperServer
) -> None:
    """The servers made it, and their answer was lost."""
    first = lock()
    assert first.acquire(wait_s=0)
    before = number(first)
    assert first.release()
    server.freeze()
    with ThreadPoolExecutor(1) as pool:
        lost = pool.submit(lock().acquire)
        cut(first.zookeeper.client)
        with pytest.raises(StoreAway, match="ConnectionLoss"):
            lost.result(10)
    server.thaw()
    last = lock()
    until(lambda: last.zookeeper.session)
    assert last.acquire(wait_s=5)
    assert number(last) == before + 2, "there was one between"


def test_a_place_whose_release_was_not_answered_does_not_stay(
    lock: Lock, server: ZooKeeperServer
) -> None:
    holder = lock()
    assert holder.acquire(wait_s=0)
    freeze(server, holder.release)
    server.thaw()
    assert lock().acquire(wait_s=5)


@pytest.mark.parametrize("session_ended", [False, True])
def test_a_release_is_asked_for_again_when_the_connection_broke(
    lock: Lock, server: ZooKeeperServer, session_ended: bool
) -> None:
    """Its first DELETE was executed: the place was mine until then, in this same session."""
    holder = lock()
    assert holder.acquire(wait_s=0)
    if session_ended:
        assert holder.place
        holder.place = replace(holder.place, session=0)  # it was made in an earlier one
    server.freeze()
    with ThreadPoolExecutor(1) as pool:
        release = pool.submit(holder.release)
        cut(holder.zookeeper.client)
        server.thaw()
        assert release.result(10) != session_ended
    assert not holder.locked()


def test_a_place_that_somebody_deleted_was_lost(lock: Lock) -> None:
    holder = lock()
    assert holder.acquire(wait_s=0)
    holder.zookeeper.client.delete(f"{holder.folder}/{holder.line()[0]}")
    assert not holder.owned()
    assert not holder.release()
