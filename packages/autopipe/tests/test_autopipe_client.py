"""A drop-in: the same answers as redis.Redis, for every way to make one."""

from __future__ import annotations

import os
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import autopipe
import pytest
import redis
from autopipe.own import OWN
from autopipe.wire import Layered, Plain
from autopipe_servers import Server, until
from redis.client import NEVER_DECODE
from redis.connection import Connection, ConnectionPool

CALLS: list[tuple[Any, ...]] = [
    ("SET", "a", "ä"),
    ("GET", "a"),
    ("get", b"a"),
    ("GET", "none"),
    ("SET", bytearray(b"b"), memoryview(b"2")),
    ("INCRBYFLOAT", "b", 0.5),
    ("HSET", "h", "f", 1),
    ("HGETALL", "h"),
    ("ZADD", "z", 1.5, "m"),
    ("ZRANGE", "z", 0, -1, "WITHSCORES"),
    ("SADD", "s", "x"),
    ("SMEMBERS", "s"),
    ("CONFIG GET", "appendfsync"),
    ("EVAL", "return {1, {2, 'x'}, false}", 0),
    ("INCR", "a"),
    ("GET",),
    ("CLIENT GETNAME",),
    ("BLPOP", "no-list", 0.01),
]


def told(client: redis.Redis, call: tuple[Any, ...]) -> Any:
    try:
        return client.execute_command(*call)
    except redis.ResponseError as error:
        return type(error), str(error)


@pytest.mark.parametrize("decode", [False, True])
@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("link", ["tcp", "unix", "layered"])
def test_the_same_answers(server: Server, decode: bool, protocol: int, link: str) -> None:
    url = f"unix://{server.folder}/socket" if link == "unix" else server.url
    options: dict[str, Any] = {"decode_responses": decode, "protocol": protocol}
    if link == "layered":
        options["connection_class"] = Odd
    ours, theirs = autopipe.Redis.from_url(url, **options), redis.Redis.from_url(url, **options)
    with ours, theirs:
        answers = []
        for client in (theirs, ours):
            client.flushall()
            answers.append([told(client, call) for call in CALLS])
            answers[-1].append(client.zrange("z", 0, -1, withscores=True))
            answers[-1].append(client.execute_command("GET", "a", **{NEVER_DECODE: True}))
            with pytest.raises(redis.DataError):
                client.set("a", object())  # type: ignore[arg-type]
        assert answers[0] == answers[1]
        assert type(ours._line.wire) is (Layered if link == "layered" else Plain)


class Odd(Connection):
    """Whose socket is none of the usual kind, as with TLS."""

    def _connect(self) -> Any:
        class Socket(socket.socket):
            pass

        connected = Socket(fileno=super()._connect().detach())  # type: ignore[no-untyped-call]
        connected.settimeout(self.socket_timeout)
        return connected


def test_a_script_that_the_server_has_forgotten(client: autopipe.Redis) -> None:
    script = client.register_script("return redis.call('INCR', KEYS[1])")
    assert script(keys=["n"]) == 1
    client.script_flush()
    assert script(keys=["n"]) == 2


def test_threads_share_a_connection_and_who_may_wait_has_its_own(
    client: autopipe.Redis, pool: ThreadPoolExecutor
) -> None:
    waiting = pool.submit(client.blpop, ["list"], 10)
    until(lambda: client.info("clients")["blocked_clients"] == 1)
    list(pool.map(client.incr, ["n"] * 40))
    with client.pipeline() as pipe:
        pipe.watch("n")
        assert pipe.get("n") == b"40"
        client.incr("n")
        pipe.multi()
        pipe.set("n", 0)
        with pytest.raises(redis.WatchError):
            pipe.execute()
    with client.pubsub() as heard:  # type: ignore[no-untyped-call]
        heard.subscribe("c")
        assert heard.get_message(timeout=5)
        client.publish("c", "x")
        assert heard.get_message(timeout=5)
    assert len(client.client_list()) <= 4
    client.rpush("list", "x")
    assert waiting.result(10) == (b"list", b"x")
    with client.client() as single:  # type: ignore[no-untyped-call]
        single.client_setname("mine")
        assert single.client_getname() == "mine"


def test_every_command_that_blocks_has_its_own(client: autopipe.Redis) -> None:
    """As the server itself says; it names no XREAD that does not block."""
    blocking = client.execute_command("COMMAND LIST", "FILTERBY", "ACLCAT", "blocking")
    assert {name.decode().upper() for name in blocking} <= {name.split()[0] for name in OWN}


def test_nothing_is_sent_twice_by_its_own_connections_either(client: autopipe.Redis) -> None:
    assert autopipe.Redis().get_retry().get_retries() == 0  # type: ignore[union-attr]
    made: Any = client.connection_pool.make_connection()
    assert made.retry.get_retries() == 0


def test_calls_are_counted_in_their_threads(server: Server) -> None:
    class Counting(autopipe.Redis):
        def on_call(self, args: tuple[Any, ...]) -> None:
            calls.append((threading.get_ident(), args[0]))

    calls: list[tuple[int, str]] = []
    with Counting.from_url(server.url) as client:
        client.get("a")
        client.execute_command("WAIT", 0, 1)  # its connection is redis-py's to count at
    assert calls == [(threading.get_ident(), "GET")]


def test_a_connection_closed_while_it_lay_idle(client: autopipe.Redis, server: Server) -> None:
    client.ping()
    with server.client() as other:
        other.client_kill_filter(_type="normal", skipme=True)
    assert client.incr("n") == 1
    client.close()
    assert client.incr("n") == 2


def test_a_pool_that_was_closed(server: Server) -> None:
    pool = ConnectionPool.from_url(server.url)
    with autopipe.Redis(connection_pool=pool) as client:
        client.ping()
        assert client._line.wire
        client._line.connection.disconnect()
        assert client.ping()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork with threads: meant
def test_a_fork_while_others_lead(client: autopipe.Redis, pool: ThreadPoolExecutor) -> None:
    halt = threading.Event()

    def incr() -> None:
        while not halt.is_set():
            client.incr("parent")

    crowd = [pool.submit(incr) for _ in range(3)]
    children = []
    for number in range(5):
        child = os.fork()
        if child == 0:
            signal.alarm(10)  # whatever it waits for
            try:
                if client.echo(f"child {number}") == f"child {number}".encode():
                    client.incr("child")
                    os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 5
    halt.set()
    for each in crowd:
        each.result(10)
    assert client.get("child") == b"5"
