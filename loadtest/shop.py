"""A shop of our own for one run: in a temporary folder, on free ports, gone afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from servers.family import family, kill
from servers.ports import free_port
from servers.process import Server

from loadtest import RunFailed
from loadtest.lab import request

STOP_LIMIT = 10  # seconds after SIGINT before SIGKILL; `up` promises five
WORKERS = 2


@dataclass
class MeasuredShop:
    """A shop that runs already, and its lab."""

    url: str
    lab_url: str

    def check(self) -> None:
        """Raise RunFailed when the shop is our own and has died."""


class LocalServer(Server):
    """A server of ours that stops in order, with all processes that it has started."""

    seconds = 60.0  # until it serves: a cold disk, the migrations
    failure = RunFailed

    def stop(self) -> None:
        stop(self.process)

    kill = stop


class OwnShop(LocalServer, MeasuredShop):
    """`lastapple up` in `folder`, with `threads` in each worker; None: its default.

    To measure a way of selling, give every worker as many threads as there are buyers: keep-alive
    connections are spread unevenly, and one worker may get nearly all of them.
    """

    name = "The shop"

    def __init__(self, folder: Path, threads: int | None) -> None:
        shop_port, lab_port, self.store_port = (free_port() for _ in range(3))
        MeasuredShop.__init__(self, f"http://127.0.0.1:{shop_port}", f"http://127.0.0.1:{lab_port}")
        self.var = folder / "var"
        settings = {
            "VAR_DIR": str(self.var),
            "SHOP_HOST": "127.0.0.1",
            "SHOP_PORT": str(shop_port),
            "SHOP_WORKERS": str(WORKERS),
            "SHOP_THREADS": str(threads or ""),
            "LAB_HOST": "127.0.0.1",
            "LAB_PORT": str(lab_port),
            "STORE_PORT": str(self.store_port),
            # Empty: the default, whatever the environment has: no other shop's store. Only
            # ZOOKEEPER_HOSTS stays, as we start no ZooKeeper.
            **dict.fromkeys(("REDIS_URL", "REDLOCK_URLS", "DATABASE_URL"), ""),
            **dict.fromkeys(("SHOP_URL", "LAB_TOKEN", "DEFAULT_MODE"), ""),
        }
        command = [sys.executable, "-m", "app.cli", "up"]
        super().__init__(command, folder / "up.log", env=os.environ | settings)

    def serves(self) -> bool:
        return is_ready(self.url) and is_ready(self.lab_url)

    @property
    def store_url(self) -> str:
        """Return the store's address with the password that this shop has made for it."""
        password = (self.var / "store-password").read_text()
        return f"redis://:{password}@127.0.0.1:{self.store_port}/0"

    def check(self) -> None:
        if not self.runs():
            status = self.process.returncode
            raise RunFailed(f"The shop stopped by itself (status {status}).\n{self.said()}")


@contextmanager
def own_shop(threads: int | None) -> Iterator[OwnShop]:
    """Start a shop; stop it on leaving. Raises RunFailed when it does not become ready."""
    folder = Path(tempfile.mkdtemp(prefix="lastapple-compare-"))
    try:
        with OwnShop(folder, threads) as shop:
            yield shop
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_ready(url: str) -> bool:
    try:
        return request(url, "GET", "/readyz")[0] == 200
    except RunFailed:
        return False


def stop(process: subprocess.Popen[bytes]) -> None:
    """Send SIGINT to the supervisor, which stops the rest in order; SIGKILL all that are left."""
    # A second Ctrl-C must not interrupt this: it would leave processes and a folder behind.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        members = family(process.pid)
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        _, left = psutil.wait_procs(members, timeout=STOP_LIMIT)
        kill(left)  # and wait: otherwise they might still write into the folder
        process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
