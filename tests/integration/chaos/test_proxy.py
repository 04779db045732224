"""The proxy's effect on a real conversation: lost, late, cut, half open."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from loadtest.chaos.proxy import Conduct, Proxies, Proxy
from tests.support.servers import free_port, until


@dataclass
class Echo:
    """A server that sends back what it receives, and remembers it."""

    heard: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            try:
                while said := connection.recv(100):
                    self.heard.append(said)
                    connection.sendall(said)
            except OSError:  # cut
                return


@pytest.fixture
def echo() -> Iterator[Echo]:
    server = Echo()
    yield server
    server.socket.close()


@pytest.fixture
def proxies() -> Iterator[Proxies]:
    made = Proxies()
    yield made
    made.close()


@pytest.fixture
def proxy(proxies: Proxies, echo: Echo) -> Proxy:
    return proxies.open("test", echo.port)


@pytest.fixture
def client(proxy: Proxy) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=0.3) as connection:
        connection.sendall(b"hello")
        assert connection.recv(100) == b"hello"
        yield connection


def test_a_swallowed_reply(
    proxies: Proxies, proxy: Proxy, client: socket.socket, echo: Echo
) -> None:
    proxy.behave(Conduct.SWALLOW)
    client.sendall(b"sell")
    with pytest.raises(TimeoutError):
        client.recv(100)
    assert echo.heard == [b"hello", b"sell"]
    assert (proxy.touched, len(proxy.under_way())) == (1, 1)
    proxies.heal(proxy)
    until(lambda: not proxy.links)  # out of step: it is cut, not repaired
    with pytest.raises(ConnectionError):
        client.recv(100)


@pytest.mark.parametrize(
    ("conduct", "arrives"), [(Conduct.SEVER, [b"hello", b"sell"]), (Conduct.REFUSE, [b"hello"])]
)
def test_a_cut(
    proxy: Proxy, client: socket.socket, echo: Echo, conduct: Conduct, arrives: list[bytes]
) -> None:
    proxy.behave(conduct)
    client.sendall(b"sell")
    with pytest.raises(ConnectionError):
        client.recv(100)
    assert echo.heard == arrives


def test_half_open(proxies: Proxies, proxy: Proxy, client: socket.socket, echo: Echo) -> None:
    proxy.behave(Conduct.HALF_OPEN)
    client.sendall(b"sell")
    with pytest.raises(TimeoutError):
        client.recv(100)
    assert echo.heard == [b"hello"]
    proxies.heal(proxy)
    until(lambda: not proxy.links)


def test_what_is_late_arrives_after_its_sender_has_left(
    proxy: Proxy, client: socket.socket, echo: Echo
) -> None:
    proxy.behave(Conduct.DELAY, 0.4)
    client.sendall(b"sell")
    client.close()
    time.sleep(0.1)
    assert echo.heard == [b"hello"]
    until(lambda: echo.heard == [b"hello", b"sell"])


def test_another_server(proxy: Proxy, client: socket.socket, echo: Echo) -> None:
    """After a failover new connections go to the new server; existing ones stay."""
    other = Echo()
    proxy.to = other.port
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=1) as second:
        second.sendall(b"new")
        assert second.recv(100) == b"new"
    client.sendall(b"old")
    assert client.recv(100) == b"old"
    assert (other.heard, echo.heard) == ([b"new"], [b"hello", b"old"])
    other.socket.close()


@pytest.mark.parametrize("sender_dies", [False, True])
def test_a_request_is_stopped_at_a_point(
    proxies: Proxies, proxy: Proxy, client: socket.socket, echo: Echo, sender_dies: bool
) -> None:
    proxy.stop_at(b"second half")
    client.sendall(b"first half")
    assert client.recv(100) == b"first half"
    client.sendall(b"the second half")
    until(lambda: proxy.stopped)
    assert proxy.stopped
    assert echo.heard[-1] == b"first half"
    if sender_dies:
        proxies.cut([proxy.stopped])
    proxy.resume()
    if sender_dies:
        until(lambda: not proxy.links)
    else:
        assert client.recv(100) == b"the second half"
    assert (echo.heard[-1] == b"the second half") is not sender_dies


def test_nobody_behind_it(proxies: Proxies) -> None:
    proxy = proxies.open("test", free_port())
    with pytest.raises(ConnectionError):
        _ask(proxy.port)


def _ask(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=1) as client:
        client.sendall(b"anybody?")
        client.recv(100)
