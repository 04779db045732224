"""A Valkey for one run: on a free port, in a folder of its own, gone afterwards."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from app.bench import BenchFailed
from app.store import embedded

START_LIMIT = 20.0  # s
TRIES = 3  # somebody may take the port between our look and the server's start


@contextmanager
def running(folder: Path) -> Iterator[redis.Redis]:
    """Start it, hand out a client for it, kill it on leaving: its data is nobody's.

    Raises BenchFailed when it does not start, StoreAway without a server for this machine.
    """
    for _ in range(TRIES):
        process, port = _start(folder)
        try:
            with redis.Redis(port=port, socket_timeout=START_LIMIT) as store:
                if _serves(process, store):
                    yield store
                    return
        finally:
            process.kill()
            process.wait()
    said = (folder / "server.log").read_text(errors="replace").strip()
    raise BenchFailed(f"The embedded Valkey does not start: {said.splitlines()[-1]}")


def url(store: redis.Redis) -> str:
    return f"redis://127.0.0.1:{store.connection_pool.connection_kwargs['port']}/0"


def about(store: redis.Redis) -> str:
    info = store.info("server")
    version = info.get("valkey_version", info["redis_version"])
    return f"embedded Valkey {version} over loopback TCP, nothing written to disk (no AOF)"


def _start(folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    # No append-only file: a run would write gigabytes, and the server would stop and fork to
    # shorten them in the middle of somebody's cell. The last word on an option counts.
    command = [*embedded.command(port, None, folder, "no"), "--appendonly", "no"]
    with (folder / "server.log").open("wb") as log:
        # In a session of its own: Ctrl-C reaches the bench only, which then ends the server.
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    return process, port


def _serves(process: subprocess.Popen[bytes], store: redis.Redis) -> bool:
    """Wait until it answers. False: it ended, or somebody else answers on its port."""
    deadline = time.monotonic() + START_LIMIT
    while process.poll() is None and time.monotonic() < deadline:
        try:
            return bool(store.info("server")["process_id"] == process.pid)
        except redis.ConnectionError:
            time.sleep(0.05)
    return False
