"""A Valkey for one run: on a free port, in a folder of its own, gone afterwards."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis
from badluck.orphans import end_with_parent

from app.store import embedded
from loadtest.bench import BenchFailed

START_LIMIT = 20.0  # s


@contextmanager
def running(folder: Path) -> Iterator[redis.Redis]:
    """Start it, hand out a client for it, kill it on leaving: its data is nobody's.

    Raises BenchFailed when it does not start, StoreAway without a server for this machine.
    """
    port = free_port()
    # No append-only file: a run would write gigabytes, and the server would stop and fork to
    # shorten them in the middle of somebody's cell. The last word on an option counts.
    command = [*embedded.command(port, None, folder, "no"), "--appendonly", "no"]
    log = folder / "server.log"
    with log.open("wb") as output:
        # In a session of its own: Ctrl-C reaches the bench only, which then ends the server.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=end_with_parent,
        )
    try:
        with redis.Redis(port=port, socket_timeout=START_LIMIT) as store:
            if not _serves(process, store):
                said = log.read_text(errors="replace").strip().rpartition("\n")[2]
                raise BenchFailed(f"The embedded Valkey does not start: {said}")
            yield store
            # Of redlock's masters one may be away, and the sale goes on: at another pace.
            if process.poll() is not None:
                raise BenchFailed("An embedded Valkey ended before its time.")
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    """A port of loopback that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def url(store: redis.Redis) -> str:
    return f"redis://127.0.0.1:{store.connection_pool.connection_kwargs['port']}/0"


def about(store: redis.Redis) -> str:
    info = store.info("server")
    version = info.get("valkey_version", info["redis_version"])
    return f"embedded Valkey {version} over loopback TCP, nothing written to disk (no AOF)"


def _serves(process: subprocess.Popen[bytes], store: redis.Redis) -> bool:
    """Wait until it answers. False: it does not. Whoever else answers on its port is not it."""
    deadline = time.monotonic() + START_LIMIT
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(redis.ConnectionError):
            if store.info("server")["process_id"] == process.pid:
                return True
        time.sleep(0.05)
    return False
