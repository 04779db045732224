"""The server restarts, goes away, or is stopped while clients wait."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from fairlock_waiters import LINE, Sent, counted, queue
from servers.valkey import Valkey
from servers.waiting import until

RUNS_ON = ["valkey", "cluster"]
pytestmark = pytest.mark.again


def test_waiters_survive_a_restart_of_the_server(
    own_server: Valkey, pool: ThreadPoolExecutor
) -> None:
    """The connections break; the waiters return and are served, whatever the server remembers."""
    client = redis.Redis.from_url(own_server.url)
    holder = queue(client, 10.0)
    holder.acquire("holder", True, None)
    inside: list[str] = []

    def work(token: str) -> bool:
        mine = queue(client, 10.0)
        if not mine.acquire(token, True, 20):
            return False
        inside.append(token)
        assert len(inside) == 1
        inside.remove(token)
        return mine.release(token)

    waiting = [pool.submit(work, f"w{number}") for number in range(6)]
    until(lambda: client.llen(LINE) == 6)
    own_server.kill()
    own_server.start()
    assert holder.release("holder"), "appendfsync always: the lock is still there, and still ours"
    assert all(future.result(20) for future in waiting)


def test_a_server_that_is_gone_is_a_clear_error_in_time(
    own_server: Valkey, pool: ThreadPoolExecutor
) -> None:
    client = redis.Redis.from_url(own_server.url, socket_timeout=0.4)
    holder = queue(client, 10.0)
    holder.acquire("holder", True, None)
    waiting = pool.submit(queue(client, 10.0).acquire, "waiter", True, 60)
    patient = redis.Redis.from_url(own_server.url)
    until(lambda: patient.llen(LINE) == 1)
    own_server.kill()
    with pytest.raises(redis.ConnectionError):
        holder.release("holder")
    with pytest.raises(redis.ConnectionError):
        waiting.result(30)
    own_server.start()


def test_a_frozen_server_is_a_clear_error_in_time(
    own_server: Valkey, pool: ThreadPoolExecutor
) -> None:
    client = redis.Redis.from_url(own_server.url, socket_timeout=0.4)
    client.ping()
    own_server.freeze()
    sent = Sent()
    with counted(sent), pytest.raises(redis.TimeoutError):
        queue(client, 10.0).acquire("a", True, None)
    assert sent.commands <= 2, "each waits for the time-out"
    own_server.thaw()
