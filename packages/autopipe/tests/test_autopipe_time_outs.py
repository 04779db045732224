"""Each thread is back in its time, whatever the server does, and whoever leads."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import autopipe
import pytest
import redis
from autopipe_servers import Proxy, Server, until

T = 1.0  # s


@pytest.fixture
def client(proxy: Proxy, server: Server) -> Iterator[autopipe.Redis]:
    with server.client() as direct:
        direct.flushall()
    with autopipe.Redis.from_url(proxy.url, socket_timeout=T, driver_info=None, protocol=2) as made:
        made.ping()
        yield made


def timed(client: autopipe.Redis, *command: Any) -> tuple[Any, float]:
    """The reply or the error, and the seconds it took."""
    begun = time.monotonic()
    try:
        told = client.execute_command(*command)
    except redis.RedisError as error:
        told = error
    return told, time.monotonic() - begun


def in_line(client: autopipe.Redis) -> int:
    return len(client._line.waiting) + len(client._line.sent)


@pytest.mark.timed
def test_a_silent_server(client: autopipe.Redis, proxy: Proxy, pool: ThreadPoolExecutor) -> None:
    proxy.passes = 0
    asked = [pool.submit(timed, client, "INCR", "n") for _ in range(8)]
    told = [one.result(10) for one in asked]
    assert all(isinstance(one, redis.TimeoutError) for one, _ in told)
    assert all(T - 0.05 < seconds < T + 0.3 for _, seconds in told)
    sent = [one for one, _ in told if "not sent" not in str(one)]
    proxy.passes = None  # what it has said since is nobody's reply
    assert client.execute_command("GET", "n") == b"%d" % len(sent)


@pytest.mark.timed
def test_whose_time_is_over_leaves_the_reading_to_who_has_some_left(
    client: autopipe.Redis, proxy: Proxy, pool: ThreadPoolExecutor
) -> None:
    asked: list[Future[tuple[Any, float]]] = []

    def come() -> None:
        before = in_line(client)
        asked.append(pool.submit(timed, client, "INCR", "n"))
        until(lambda: in_line(client) == before + 1)

    proxy.passes = 0
    come()
    come()
    time.sleep(0.6 * T)
    come()
    proxy.passes = 1  # now the two others go in one packet
    early, late = asked[1], asked[2]
    assert isinstance(early.result(10)[0], redis.TimeoutError)
    connections = len(proxy._clients)
    proxy.passes = None
    assert late.result(10)[0] == 3
    assert client.incr("n") == 4
    assert len(proxy._clients) == connections  # no reason to hang up


@pytest.mark.timed
def test_a_frozen_server_and_a_killed_one(own_server: Server, pool: ThreadPoolExecutor) -> None:
    client = autopipe.Redis.from_url(own_server.url, socket_timeout=T)
    assert client.incr("n") == 1
    own_server.freeze()
    told = [one.result(10) for one in [pool.submit(timed, client, "INCR", "n") for _ in range(8)]]
    assert all(isinstance(one, redis.TimeoutError) for one, _ in told)
    assert all(seconds < T + 0.3 for _, seconds in told)
    own_server.thaw()
    sent = sum("not sent" not in str(one) for one, _ in told)
    assert client.incr("n") == 2 + sent
    own_server.freeze()
    asked = [pool.submit(timed, client, "INCR", "n") for _ in range(8)]
    until(lambda: in_line(client) == 8)
    own_server.kill()
    told = [one.result(10) for one in asked]
    assert all(isinstance(one, redis.ConnectionError) and seconds < T for one, seconds in told)
    with pytest.raises(redis.ConnectionError):
        client.ping()
    own_server.start()
    assert client.incr("n") == 3 + sent
    client.close()


def test_no_time_out_at_all(proxy: Proxy) -> None:
    with autopipe.Redis.from_url(proxy.url, socket_timeout=None) as client:
        assert client.ping()
