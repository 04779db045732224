"""Servers of one run: our shop, and the usual one on the same store."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

import psutil
import redis
from servers.family import cpu_seconds, family
from servers.ports import free_port

from loadtest import RunFailed
from loadtest.lab import Lab, request
from loadtest.shop import LocalServer, OwnShop, own_shop
from loadtest.throughput.rows import PLAIN, USUAL

ITEM = "apple"
NO_PEERS: Mapping[str, str] = {}
WORKERS, THREADS = 2, 8  # of the usual shop


@dataclass
class LoadedServer:
    """A server that gets HTTP load. `processes` are all that work for it, the store's too."""

    url: str
    threads: int  # of all workers: as many requests can be under way, the others wait
    processes: list[psutil.Process] = field(default_factory=list)

    def memory(self) -> int:
        """The resident bytes of its living processes, except the store's."""
        return sum(
            process.memory_info().rss
            for process in self.processes
            if process.is_running() and "valkey-server" not in process.name()
        )

    def cpu(self) -> float:
        """The CPU seconds, user and system, that its living processes have used so far."""
        try:
            return sum(map(cpu_seconds, self.processes))
        except psutil.NoSuchProcess as gone:
            raise RunFailed(f"A process of {self.url} has ended: {gone}") from gone


@dataclass
class ServerSet:
    ours: LoadedServer
    usual: LoadedServer
    peers: dict[str, LoadedServer]  # by the names of their rows
    lab: Lab
    store: redis.Redis
    shop: OwnShop

    def of(self, name: str) -> LoadedServer:
        """Return the server that a row loads."""
        theirs = self.peers | {PLAIN: self.usual, USUAL: self.usual}
        return theirs.get(name, self.ours)


@contextmanager
def servers(threads: int | None = None, peers: Mapping[str, str] = NO_PEERS) -> Iterator[ServerSet]:
    """Start all servers, on loopback and free ports; gone afterwards. Raises RunFailed.

    `threads` are those of each of our workers; None: the shop's default. `peers` are the names of
    rows by PEER.
    """
    with ExitStack() as stack:
        shop = stack.enter_context(own_shop(threads))
        store = stack.enter_context(redis.Redis.from_url(shop.store_url, socket_timeout=10))
        usual = stack.enter_context(PlainShop(shop, "usual", THREADS)).describe()
        lab = Lab(shop.lab_url)
        about = lab.about()
        others = {
            row: stack.enter_context(PlainShop(shop, "peers", about.threads, peer)).describe()
            for peer, row in peers.items()
        }
        ours = family(shop.process.pid)
        keeper = psutil.Process(int(store.info("server")["process_id"]))
        for server in (usual, *others.values()):
            server.processes.append(keeper)
        shop_server = LoadedServer(shop.url, about.workers * about.threads, ours)
        yield ServerSet(shop_server, usual, others, lab, store, shop)


class PlainShop(LocalServer):
    """A yardstick in gunicorn; `threads` are those of each worker."""

    name = "A yardstick"

    def __init__(self, shop: OwnShop, module: str, threads: int, peer: str = "") -> None:
        self.url, self.threads = f"http://127.0.0.1:{free_port()}", threads
        command = [sys.executable, "-m", "gunicorn", f"loadtest.throughput.{module}:app"]
        command += ["-b", self.url[7:], "--workers", str(WORKERS), "--threads", str(threads)]
        command += ["--worker-class", "gthread"]
        command += ["--no-control-socket", "--log-level", "warning"]
        env = os.environ | {"USUAL_STORE": shop.store_url, "PEER": peer}
        super().__init__(command, shop.log.with_name(f"{module}{peer}.log"), env=env)

    def serves(self) -> bool:
        with suppress(RunFailed):
            return request(self.url, "POST", "/noop", {})[0] == 200
        return False

    def describe(self) -> LoadedServer:
        return LoadedServer(self.url, WORKERS * self.threads, family(self.process.pid))
