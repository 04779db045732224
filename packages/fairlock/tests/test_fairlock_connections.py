"""A thread's connections: how long it tries to open them, and how many it has."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis
from fairlock import Lock, SystemClock
from fairlock.connections import Connections, connections, process
from fairlock.waiter import Waiter
from fairlock_waiters import queue
from servers.valkey import Valkey
from servers.waiting import until

pytestmark = pytest.mark.again

FORK = """
import os, sys, redis
from fairlock import Lock
from fairlock.connections import connections, process

client = redis.Redis.from_url(sys.argv[1])

def mine():
    pair = connections(client, "")
    return {process(client), pair, pair.channel}

with Lock(client, "lock", timeout=10):
    parents = mine()
    child = os.fork()
    if not child:
        with Lock(client, "another", timeout=10):
            os._exit(bool(parents & mine()))
    assert os.waitpid(child, 0)[1] == 0
assert parents == mine()
"""


def test_a_usual_clients_own_retries_do_not_multiply_ours(
    own_server: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One attempt of the lock must not cost ten of the client's. Counts refused connections."""
    real: Any = redis.Connection._connect
    tried: list[redis.Connection] = []

    def connect(connection: redis.Connection) -> Any:
        tried.append(connection)
        return real(connection)

    monkeypatch.setattr(redis.Connection, "_connect", connect)
    with redis.Redis(port=own_server.port) as client:
        own_server.kill()
        with pytest.raises(redis.ConnectionError):
            Lock(client, "lock", timeout=10).acquire()
    assert len(tried) < 10


def test_one_pair_serves_a_thread_for_all_locks_of_a_server(own_server: Valkey) -> None:
    """A thread that used more than 16 locks in turn once opened a connection each time."""
    with redis.Redis.from_url(own_server.url) as client:

        def opened() -> int:
            number: int = client.info("stats")["total_connections_received"]
            return number

        before = opened()
        for _ in range(2):
            for number in range(40):
                with Lock(client, f"lock:{number}", timeout=10):
                    pass
        assert opened() - before == 1
        connections(client, "").close()


def test_a_waiter_for_one_lock_holds_the_other(own_server: Valkey) -> None:
    """Over one pair: the inner lock's call arrives, the outer lock stays, both are released."""
    with redis.Redis.from_url(own_server.url) as client, ThreadPoolExecutor(1) as pool:
        inner = queue(client, 10.0, "inner")
        assert inner.acquire("first", True, None)

        def both() -> list[object]:
            first = queue(client, 10.0, "outer")
            second = queue(client, 10.0, "inner")
            got = [first.acquire("me", True, None), second.acquire("me", True, 5)]
            kept = first.extend("me", 10.0)
            connected = [second.release("me"), first.release("me"), kept is not None]
            connections(client, "").close()
            return [*(grant is not None for grant in got), *connected]

        done = pool.submit(both)
        until(lambda: client.llen("{inner}:line") == 1)
        assert inner.release("first")
        assert done.result(10) == [True] * 5
        assert not client.exists("inner", "outer")
        connections(client, "").close()


def test_a_place_left_behind_is_not_called_while_its_thread_waits_elsewhere(
    own_server: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could not leave the line: a mate's release must not take the lock for it forever."""
    with redis.Redis.from_url(own_server.url) as client:
        holder = queue(client, None, "lock")
        assert holder.acquire("holder", True, None)
        waiter = Waiter(queue(client, None, "lock"), "gone", ())
        waiter.mine = Connections(client, "")

        def lost() -> None:
            raise redis.ConnectionError

        monkeypatch.setattr(waiter, "_leave", lost)
        with pytest.raises(redis.ConnectionError):
            waiter.acquire(True, SystemClock().now() + 0.05)
        waiter.mine.subscribe()  # for another lock
        assert client.llen("{lock}:line") == 1
        assert holder.release("holder")
        assert not client.exists("lock")
        waiter.mine.close()
        connections(client, "").close()


def test_a_forked_child_is_another_process_with_connections_of_its_own(own_server: Valkey) -> None:
    subprocess.run([sys.executable, "-c", FORK, own_server.url], check=True, timeout=20)


def test_threads_of_a_client_have_one_process_and_two_channels(own_server: Valkey) -> None:
    with own_server.client() as one, own_server.client() as other, ThreadPoolExecutor(1) as pool:

        def names() -> tuple[str, str]:
            return process(one), connections(one, "").channel

        mine, theirs = names(), pool.submit(names).result(5)
        assert mine[0] == theirs[0] != process(other)
        assert mine[1] != theirs[1]
        assert names() == mine
