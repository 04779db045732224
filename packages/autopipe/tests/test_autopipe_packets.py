"""Which commands share a packet, and what becomes of each when the connection breaks."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import autopipe
import pytest
import redis
from autopipe import line as line_module
from autopipe_servers import Proxy, Server, until


@pytest.fixture
def client(proxy: Proxy, server: Server) -> Iterator[autopipe.Redis]:
    with server.client() as direct:
        direct.flushall()
    with autopipe.Redis.from_url(proxy.url, socket_timeout=5, driver_info=None, protocol=2) as made:
        yield made


def pushed(server: Server) -> list[bytes]:
    with server.client() as direct:
        said: list[bytes] = direct.lrange("log", 0, -1)
    return said


class Crowd:
    """Threads that push their numbers; the first leads, and the others line up behind it."""

    def __init__(self, pool: ThreadPoolExecutor, client: autopipe.Redis, proxy: Proxy) -> None:
        self.pool = pool
        self.client = client
        self.proxy = proxy
        self.asked: list[Future[Any]] = []

    def come(self, count: int) -> None:
        """One after the other: the first until it has been sent, each other until it waits."""
        for _ in range(count):
            number = len(self.asked)
            self.asked.append(self.pool.submit(self.client.rpush, "log", number))
            until(lambda: self.in_line() == number + 1 - self.done())
            until(lambda: self.client._line.sent)

    def in_line(self) -> int:
        line = self.client._line
        return len(line.waiting) + len(line.sent)

    def done(self) -> int:
        return sum(one.done() for one in self.asked)

    def ends(self) -> list[Any]:
        """What each was told: its reply, or the error."""
        return [one.exception(10) or one.result() for one in self.asked]


@pytest.fixture
def crowd(pool: ThreadPoolExecutor, client: autopipe.Redis, proxy: Proxy) -> Crowd:
    return Crowd(pool, client, proxy)


def test_what_waits_goes_in_one_packet(crowd: Crowd, server: Server) -> None:
    crowd.proxy.passes = 0
    crowd.come(10)
    crowd.proxy.passes = None
    assert crowd.ends() == list(range(1, 11))
    assert [packet.count(b"RPUSH") for packet in crowd.proxy.packets] == [1, 9]
    assert pushed(server) == [b"%d" % number for number in range(10)]


@pytest.mark.parametrize(("name", "most"), [("MOST_CALLS", 4), ("MOST_BYTES", 4 * 33)])
def test_a_packet_has_a_bound(
    crowd: Crowd, name: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_module, name, most)
    crowd.proxy.passes = 0
    crowd.come(10)
    crowd.proxy.passes = None
    assert crowd.ends() == list(range(1, 11))
    assert [packet.count(b"RPUSH") for packet in crowd.proxy.packets] == [1, 4, 4, 1]


def test_a_command_above_the_bound_goes_alone(crowd: Crowd) -> None:
    large = "x" * (line_module.MOST_BYTES + 1)
    crowd.proxy.passes = 0
    crowd.come(2)
    crowd.asked.append(crowd.pool.submit(crowd.client.rpush, "log", large))
    until(lambda: crowd.in_line() == 3)
    crowd.come(1)
    crowd.proxy.passes = None
    assert crowd.ends() == [1, 2, 3, 4]


def test_a_slow_packet_waits_for_its_crowd(crowd: Crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    """So those whom the last one answered are in the next one, all of them."""
    monkeypatch.setattr(line_module, "SLOW_S", -1.0)
    monkeypatch.setattr(line_module, "MOST_PATIENCE_S", 30.0)
    crowd.client.ping()
    crowd.client._line.crowd, crowd.client._line.took = 3, 60.0
    for number in range(3):
        assert b"RPUSH" not in crowd.proxy.packets[-1]
        crowd.asked.append(crowd.pool.submit(crowd.client.rpush, "log", number))
        until(lambda: crowd.in_line() == number + 1 or number == 2)
    assert crowd.ends() == [1, 2, 3]
    assert crowd.proxy.packets[-1].count(b"RPUSH") == 3


@pytest.mark.parametrize("replies", range(5))
def test_a_cut_behind_each_reply(crowd: Crowd, server: Server, replies: int) -> None:
    """Of a packet of four: those before have theirs, the rest are in doubt; all were done once.

    Who had not been sent goes over a new connection.
    """
    crowd.proxy.passes = 0
    crowd.come(5)
    crowd.proxy.passes = 1
    until(lambda: len(crowd.client._line.sent) == 4)
    crowd.come(3)
    crowd.proxy.passes = replies
    until(lambda: crowd.done() == 1 + replies)
    until(lambda: len(pushed(server)) == (5 if replies < 4 else 8))
    crowd.proxy.cut()
    crowd.proxy.passes = None
    first, packet, later = crowd.ends()[:1], crowd.ends()[1:5], crowd.ends()[5:]
    assert first == [1]
    assert packet[:replies] == [2, 3, 4, 5][:replies]
    assert all(isinstance(told, redis.ConnectionError) for told in packet[replies:])
    if replies < 4:
        assert later == [6, 7, 8]
    assert sorted(pushed(server)) == [b"%d" % number for number in range(8)]


def test_what_the_server_never_heard_is_not_sent_again(crowd: Crowd, server: Server) -> None:
    crowd.proxy.passes = 0
    crowd.come(4)
    until(lambda: crowd.proxy.held)  # it heard the first
    crowd.proxy.deaf = True
    crowd.proxy.passes = 1
    until(lambda: len(crowd.proxy.packets) == 2)
    crowd.proxy.cut()
    crowd.proxy.deaf, crowd.proxy.passes = False, None
    assert [type(told) for told in crowd.ends()[1:]] == [redis.ConnectionError] * 3
    assert crowd.client.rpush("log", "later") == 2
    assert pushed(server) == [b"0", b"later"]


def test_an_error_is_its_own_threads_alone(crowd: Crowd) -> None:
    crowd.proxy.passes = 0
    crowd.come(2)
    wrong = crowd.pool.submit(crowd.client.execute_command, "RPUSH")
    until(lambda: crowd.in_line() == 3)
    crowd.asked.append(crowd.pool.submit(crowd.client.rpush, "log", 2))
    crowd.proxy.passes = None
    assert crowd.ends() == [1, 2, 3]
    with pytest.raises(redis.ResponseError, match="wrong number of arguments"):
        wrong.result(10)


def test_what_cannot_be_decoded_is_no_matter_of_the_others(
    pool: ThreadPoolExecutor, proxy: Proxy
) -> None:
    with autopipe.Redis.from_url(proxy.url, decode_responses=True, driver_info=None) as client:
        client.set("bytes", b"\xff")
        proxy.passes = 0
        asked = [pool.submit(client.echo, "0")]
        until(lambda: len(client._line.sent) == 1)
        asked += [pool.submit(client.get, "bytes"), pool.submit(client.echo, "2")]
        until(lambda: len(client._line.waiting) == 2)
        proxy.passes = None
        assert (asked[0].result(10), asked[2].result(10)) == ("0", "2")
        assert isinstance(asked[1].exception(10), UnicodeDecodeError)
