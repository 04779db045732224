"""A shop of our own for one run: in a temporary folder, on free ports, gone afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from loadtest import RunFailed
from loadtest.lab import request

START_LIMIT = 60  # seconds until shop and lab must be healthy: a cold disk, the migrations
STOP_LIMIT = 10  # seconds after SIGINT before SIGKILL; `up` promises five
TAIL = 20  # lines of the shop's own output that an error carries

WORKERS = 2


@dataclass
class Shop:
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
def own_shop(threads: int | None) -> Iterator[Shop]:
    """Start `lastapple up` with so many threads in each worker; stop it on leaving.

    None: as many as it has by itself. Who measures a way of selling gives every worker as many as
    there are buyers, because nobody spreads keep-alive connections evenly: one worker may well get
    nearly all of them.

    Raises RunFailed when it does not become healthy.
    """
    folder = Path(tempfile.mkdtemp(prefix="lastapple-compare-"))
    log = folder / "up.log"
    try:
        shop_port, lab_port, store_port = free_ports(3)
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
        with log.open("wb") as output:
            # In a session of its own: Ctrl-C reaches this process only, which then stops that.
            process = subprocess.Popen(
                [sys.executable, "-m", "app.cli", "up"],
                env=os.environ | settings,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            shop = Shop(
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


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody listens on at this moment."""
    with contextlib.ExitStack() as held:  # all at once, so that none is given twice
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]


def wait_until_healthy(shop: Shop) -> None:
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
        family = relatives(process.pid)
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        _, left = psutil.wait_procs(family, timeout=STOP_LIMIT)
        for one in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
        psutil.wait_procs(left, timeout=STOP_LIMIT)  # else they might still write into the folder
        process.wait()
    finally:
        signal.signal(signal.SIGINT, before)


def relatives(pid: int) -> list[psutil.Process]:
    """The process and all that it started, so far as they still run."""
    try:
        parent = psutil.Process(pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
