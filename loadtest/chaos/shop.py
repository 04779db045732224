"""A whole shop of the harness's own: its processes, and proxies on every path between them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from servers.ports import free_port

from app.config import SETTINGS
from loadtest import RunFailed
from loadtest.chaos import ChaosFailed
from loadtest.chaos.database import Database, Postgres, SqliteFile
from loadtest.chaos.process import Process, Reaper, until
from loadtest.chaos.proxy import Proxies
from loadtest.chaos.stores import Stores, StoreServer
from loadtest.lab import request

ROOT = Path(__file__).parents[2]  # the code under test
CLOCK = Path(__file__).parent / "clock"
WORKERS = 2
UP = 60.0  # s until all answers


class TestedShop:
    """The shop under test; started by `open` in the main thread, and ended by `close`."""

    def __init__(self, folder: Path, postgresql: bool, durability: str, masters: bool) -> None:
        self.folder = folder
        for name in ("var", "clocks"):
            (folder / name).mkdir()
        self.reaper = Reaper(folder)
        self.proxies = Proxies()
        ours = {row.name.upper() for row in SETTINGS} | {"PYTHONDONTWRITEBYTECODE"}
        plain = {name: value for name, value in os.environ.items() if name not in ours}
        self.stores = Stores(self.reaper, folder, durability, self.proxies, plain)
        self.masters = [
            StoreServer(self.reaper, folder / f"master-{number}", "fast", plain)
            for number in (range(1, 4) if masters else ())
        ]
        self.database: Database = (
            Postgres(self.reaper, folder, self.proxies, plain) if postgresql else SqliteFile(folder)
        )
        primary = self.stores.primary.port
        self.selling = self.proxies.open("store", primary)  # shop -> store
        self.moving = self.proxies.open("fulfil", primary)  # fulfil -> store
        self.plain = self.proxies.open("operator", primary)  # lab -> store, never disturbed
        self.shop_port, self.lab_port = free_port(), free_port()
        self.front = self.proxies.open("shop", self.shop_port)  # buyers -> shop
        common = plain | {
            "PYTHONPATH": os.pathsep.join([str(CLOCK), str(ROOT)]),
            "VAR_DIR": str(folder / "var"),
            "SHOP_PORT": str(self.shop_port),
            "LAB_PORT": str(self.lab_port),
            "STORE_PORT": str(primary),
            "SHOP_WORKERS": str(WORKERS),
            "SHOP_THREADS": "16",
            "DURABILITY": durability,
            "LAB_TOKEN": "off",
        }
        if self.masters:
            common["REDLOCK_URLS"] = ",".join(
                f"redis://127.0.0.1:{each.port}" for each in self.masters
            )
        paths = (
            (self.plain, self.database.own_url),
            (self.selling, self.database.url),
            (self.moving, self.database.books_url),
        )
        self.operator_environ, shop, fulfil = (
            common | {"REDIS_URL": f"redis://127.0.0.1:{proxy.port}/0", "DATABASE_URL": url}
            for proxy, url in paths
        )
        self.shop = self._process("shop", shop | {"CHAOS_CLOCKS": str(folder / "clocks")})
        self.fulfil = self._process("fulfil", fulfil)
        self.lab = self._process("lab", self.operator_environ)

    def _process(self, name: str, environ: dict[str, str]) -> Process:
        command = [sys.executable, "-m", "app.cli", "run", name]
        return Process(self.reaper, command, self.folder / f"{name}.log", environ)

    @property
    def processes(self) -> list[Process]:
        """List the processes in the order in which they end: clients before servers."""
        servers = [self.stores.primary, self.stores.replica, *self.masters]
        database = [self.database.process] if self.database.process else []
        ours = [self.lab, self.shop, self.fulfil, *database]
        return [*ours, *(each.process for each in servers)]

    def open(self) -> None:
        """Start it. Raises ChaosFailed when a process does not start."""
        for master in self.masters:
            master.start()
        self.stores.start()
        self.database.start()
        self.database.wait()
        done = subprocess.run(
            [sys.executable, "-m", "app.cli", "prepare"],
            env=self.operator_environ,
            capture_output=True,
            text=True,
            timeout=UP,
            check=False,
        )
        if done.returncode:
            raise ChaosFailed(f"The shop cannot be prepared: {done.stdout}{done.stderr}")
        for each in (self.fulfil, self.shop, self.lab):
            each.start()
        self.wait()

    def wait(self) -> None:
        """Wait until all processes serve. Raises ChaosFailed."""
        self.stores.primary.wait()
        self.database.wait()
        for name, port in (("shop", self.shop_port), ("lab", self.lab_port)):
            until(lambda port=port: healthy(port), UP, self._tail(name))  # type: ignore[misc]

    def _tail(self, name: str) -> str:
        log_end = (self.folder / f"{name}.log").read_text(errors="replace")[-2000:]
        return f"The {name} does not answer: {log_end}"

    def heal(self) -> None:
        """Restart and resume everything. Raises ChaosFailed when that fails."""
        for proxy in (self.front, self.selling, self.moving, *self.database.proxies):
            self.proxies.heal(proxy)
        if isinstance(self.database, SqliteFile):
            self.database.let_go()
        for each in self.processes:
            each.thaw()
        for clock in (self.folder / "clocks").iterdir():
            clock.unlink()
        self.revive()
        self.wait()

    def revive(self) -> None:
        """Start the processes that have ended or were killed, and are not restarted yet."""
        for server in (self.stores.primary, *self.masters):
            if not server.process.alive:
                server.start()
        if not self.stores.replica.process.alive:
            self.stores.replica.start(self.stores.hearing.port)
        if self.database.process and not self.database.process.alive:
            self.database.start()
        for each in (self.fulfil, self.shop, self.lab):
            if not each.alive:
                each.start()

    def close(self) -> None:
        for each in self.processes:
            each.kill()
        self.proxies.close()
        self.reaper.done()


def healthy(port: int) -> bool:
    with suppress(RunFailed):
        return request(f"http://127.0.0.1:{port}", "GET", "/healthz", timeout_s=1)[0] == 200
    return False


@contextmanager
def whole_shop(
    folder: Path, postgresql: bool, durability: str, masters: bool
) -> Iterator[TestedShop]:
    """Yield a shop that sells until the end of the block.

    Raises ChaosFailed, ShopError, OSError.
    """
    shop = TestedShop(folder, postgresql, durability, masters)
    try:
        shop.open()
        yield shop
    finally:
        shop.close()
