"""What is measured, brought up for one run: our shop, and the usual one on the same store."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import psutil
import redis
from servers.family import cpu_seconds, family
from servers.ports import free_port
from servers.process import start

from loadtest import RunFailed
from loadtest.lab import Lab, request
from loadtest.shop import START_LIMIT, MeasuredShop, own_shop, stop
from loadtest.throughput.rows import PLAIN, USUAL

ITEM = "apple"
NOBODY: Mapping[str, str] = {}
WORKERS, THREADS = 2, 8  # of the usual shop


@dataclass
class LoadedServer:
    """One that is asked by HTTP. `processes` are all that work for it, those of the store too."""

    url: str
    threads: int  # of all workers: so many requests are under way, the others wait
    processes: list[psutil.Process] = field(default_factory=list)

    def memory(self) -> int:
        """Bytes that are resident in its living processes, the store's left out."""
        return sum(
            process.memory_info().rss
            for process in self.processes
            if process.is_running() and "valkey-server" not in process.name()
        )

    def cpu(self) -> float:
        """CPU seconds, user and system, that its living processes have used so far."""
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
    shop: MeasuredShop

    def of(self, name: str) -> LoadedServer:
        """Who is asked for that row."""
        theirs = self.peers | {PLAIN: self.usual, USUAL: self.usual}
        return theirs.get(name, self.ours)


@contextmanager
def servers(threads: int | None = None, peers: Mapping[str, str] = NOBODY) -> Iterator[ServerSet]:
    """All of them, on loopback and free ports; gone afterwards. Raises RunFailed.

    `threads` are those of each of our workers; None: as many as the shop has by itself. `peers` are
    the names of rows by PEER.
    """
    with ExitStack() as stack:
        shop = stack.enter_context(own_shop(threads))
        store = stack.enter_context(_store(shop))
        usual = stack.enter_context(_plain(shop, "usual", THREADS))
        lab = Lab(shop.lab_url)
        about = lab.about()
        others = {
            row: stack.enter_context(_plain(shop, "peers", about.threads, peer))
            for peer, row in peers.items()
        }
        ours = family(shop.process.pid) if shop.process else []
        keeper = psutil.Process(int(store.info("server")["process_id"]))
        for server in (usual, *others.values()):
            server.processes.append(keeper)
        shop_server = LoadedServer(shop.url, about.workers * about.threads, ours)
        yield ServerSet(shop_server, usual, others, lab, store, shop)


@contextmanager
def _store(shop: MeasuredShop) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(shop.store_url, socket_timeout=10) as store:
        yield store


@contextmanager
def _plain(shop: MeasuredShop, module: str, threads: int, peer: str = "") -> Iterator[LoadedServer]:
    url = f"http://127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "gunicorn", f"loadtest.throughput.{module}:app"]
    command += ["-b", url[7:], "--workers", str(WORKERS), "--threads", str(threads)]
    command += ["--worker-class", "gthread"]
    command += ["--no-control-socket", "--log-level", "warning"]
    process = start(command, env=os.environ | {"USUAL_STORE": shop.store_url, "PEER": peer})
    try:
        _wait(url, process, module)
        yield LoadedServer(url, WORKERS * threads, family(process.pid))
    finally:
        stop(process)


def _wait(url: str, process: subprocess.Popen[bytes], module: str) -> None:
    limit = time.monotonic() + START_LIMIT
    while True:
        try:
            if request(url, "POST", "/noop", {})[0] == 200:
                return
        except RunFailed:
            pass
        if process.poll() is not None or time.monotonic() > limit:
            raise RunFailed(f"A yardstick did not start: `gunicorn loadtest.throughput.{module}`.")
        time.sleep(0.1)
