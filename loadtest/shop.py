"""A shop of our own for one run: in a temporary folder, on free ports, gone afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from servers.family import family, kill
from servers.ports import free_port
from servers.process import start

from loadtest import RunFailed
from loadtest.lab import request

START_LIMIT = 60  # seconds until shop and lab must be healthy: a cold disk, the migrations
STOP_LIMIT = 10  # seconds after SIGINT before SIGKILL; `up` promises five
TAIL = 20  # lines of the shop's own output that an error carries

WORKERS = 2


@dataclass
class MeasuredShop:
    """A shop to measure. `process` and `log` are set when it is our own."""

    url: str
    lab_url: str
    process: subprocess.Popen[bytes] | None = None
    log: Path | None = None
    store_port: int = 0

    @property
    def store_url(self) -> str:
        """With the password that our own shop has made for its store."""
        var = self.log.with_name("var") if self.log else Path()
        password = (var / "store-password").read_text()
        return f"redis://:{password}@127.0.0.1:{self.store_port}/0"

    def check(self) -> None:
        """Raise RunFailed when our own shop has died, with the last lines it wrote."""
        if self.process is not None and self.process.poll() is not None:
            raise RunFailed(
                f"The shop stopped by itself (status {self.process.returncode}).{self.tail()}"
            )

    def tail(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines() if self.log else []
        return "".join(f"\n    {line}" for line in lines[-TAIL:])


@contextmanager
def own_shop(threads: int | None) -> Iterator[MeasuredShop]:
    """Start `lastapple up` with so many threads in each worker; stop it on leaving.

    None: as many as it has by itself. Who measures a way of selling gives every worker as many as
    there are buyers, because nobody spreads keep-alive connections evenly: one worker may well get
    nearly all of them.

    Raises RunFailed when it does not become healthy.
    """
    folder = Path(tempfile.mkdtemp(prefix="lastapple-compare-"))
    log = folder / "up.log"
    try:
        shop_port, lab_port, store_port = (free_port() for _ in range(3))
        settings = {
            "VAR_DIR": str(folder / "var"),
            "SHOP_HOST": "127.0.0.1",
            "SHOP_PORT": str(shop_port),
            "SHOP_WORKERS": str(WORKERS),
            "SHOP_THREADS": str(threads or ""),
            "LAB_HOST": "127.0.0.1",
            "LAB_PORT": str(lab_port),
            "STORE_PORT": str(store_port),
            # Empty: the default, whatever the environment points at: nobody else's store. Only
            # ZOOKEEPER_HOSTS stays, for we bring none of our own.
            "REDIS_URL": "",
            "REDLOCK_URLS": "",
            "DATABASE_URL": "",
            "SHOP_URL": "",
            "LAB_TOKEN": "",
            "DEFAULT_MODE": "",
        }
        command = [sys.executable, "-m", "app.cli", "up"]
        process = start(command, log, env=os.environ | settings)
        try:
            shop = MeasuredShop(
                f"http://127.0.0.1:{shop_port}",
                f"http://127.0.0.1:{lab_port}",
                process,
                log,
                store_port,
            )
            wait_until_healthy(shop)
            yield shop
        finally:
            stop(process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def wait_until_healthy(shop: MeasuredShop) -> None:
    limit = time.monotonic() + START_LIMIT
    for url in (shop.url, shop.lab_url):
        while not healthy(url):
            shop.check()
            if time.monotonic() > limit:
                raise RunFailed(f"{url} was not healthy after {START_LIMIT} s.{shop.tail()}")
            time.sleep(0.1)


def healthy(url: str) -> bool:
    try:
        return request(url, "GET", "/readyz")[0] == 200
    except RunFailed:
        return False


def stop(process: subprocess.Popen[bytes]) -> None:
    """SIGINT to the supervisor, which stops the rest in order; SIGKILL to whatever is left."""
    # A second Ctrl-C must not interrupt this: it would leave processes and a folder behind.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        members = family(process.pid)
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        _, left = psutil.wait_procs(members, timeout=STOP_LIMIT)
        kill(left)  # and wait: else they might still write into the folder
        process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
