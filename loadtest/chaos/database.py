"""The orders' database: a SQLite file, or a PostgreSQL process behind proxies of ours."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from servers.process import READY, START
from sqlalchemy import create_engine, text

from app.store.throwaway import POSTGRES_SOCKET, postgres_command
from loadtest.chaos.history import Book, BookEntry
from loadtest.chaos.process import Process, Reaper, until
from loadtest.chaos.proxy import Proxies, Proxy

ORDERS = text("SELECT id, item, round, quantity, key, buyer, price FROM orders")
HOLDING = 0.2  # s to wait for the file's lock


class SqliteFile:
    """SQLite has no process; a writer holds the file."""

    kind = "sqlite"

    def __init__(self, folder: Path) -> None:
        self.path = folder / "orders.db"
        # The paths of the shop, of fulfil and of the harness to it.
        self.url = self.books_url = self.own_url = f"sqlite:///{self.path}"
        self.proxies: list[Proxy] = []
        self.process: Process | None = None
        self.held: sqlite3.Connection | None = None

    def start(self) -> None:
        """Do nothing: there is no process."""

    wait = start

    def hold(self) -> bool:
        """Hold the file, like a process frozen in a transaction. False: it is busy."""
        holder = sqlite3.connect(self.path, timeout=HOLDING, check_same_thread=False)
        try:
            holder.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            holder.close()
            return False
        self.held = holder
        return True

    def let_go(self) -> None:
        if self.held:
            self.held.close()
            self.held = None


class Postgres:
    """The wheel's server; shop and fulfil reach it through a proxy each."""

    kind = "postgresql"

    def __init__(
        self, reaper: Reaper, folder: Path, proxies: Proxies, environ: Mapping[str, str]
    ) -> None:
        data_folder = folder / "postgres"
        command, user = postgres_command(data_folder)
        self.log = folder / "postgres.log"
        self.process = Process(reaper, command, self.log, environ, user)
        socket = data_folder / POSTGRES_SOCKET
        self.proxies = [proxies.open(name, socket) for name in ("database", "books")]
        self.url, self.books_url = (
            f"postgresql://postgres@127.0.0.1:{proxy.port}/postgres" for proxy in self.proxies
        )
        self.own_url = f"postgresql+psycopg://postgres@/postgres?host={data_folder}"
        self.read = 0  # length in bytes of its log when it was started

    def start(self) -> None:
        self.read = self.log.stat().st_size if self.log.exists() else 0
        self.process.start()

    def wait(self) -> None:
        until(lambda: READY in self.log.read_bytes()[self.read :], START, "no PostgreSQL")


Database = SqliteFile | Postgres


def books(database: Database) -> list[BookEntry]:
    """Return every order's row."""
    engine = create_engine(database.own_url)
    try:
        with engine.connect() as connection:
            rows = connection.execute(ORDERS).all()
    finally:
        engine.dispose()
    return [BookEntry(Book.DATABASE, *row) for row in rows]
