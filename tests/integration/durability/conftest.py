"""A store and its replica, and a shop of its own over them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.bootstrap import Services
from app.config import Settings
from app.store import embedded
from tests.support.servers import StoreServer, until

SHORT = 600  # ms that the store has for an answer: a frozen replica is waited for


@dataclass
class Pair:
    """`replica` follows `store`."""

    store: StoreServer
    replica: StoreServer

    def together(self) -> bool:
        """Does the replica have all that the store has?"""
        with self.store.client() as client:
            client.set("together", 1)
            return bool(client.wait(1, 5_000))

    def stop(self) -> None:
        for server in (self.replica, self.store):
            server.stop()


def pair_in(folder: Path, program: str | None = None, appendfsync: str = "always") -> Pair:
    more = ["--repl-diskless-sync-delay", "0", "--shutdown-timeout", "0"]
    if program:
        more = [*more[:2], "--repl-diskless-sync", "yes", *more[2:]]
    store = StoreServer(folder / "store", program, appendfsync, more)
    following = embedded.following(store.port)
    pair = Pair(store, StoreServer(folder / "replica", program, appendfsync, following))
    with store.client() as client:
        until(
            lambda: client.role()[2]
        )  # it has a replica; which says within a second that it hears
        client.set("first", 1)
        assert client.wait(1, 5_000)
    return pair


def promote(server: StoreServer) -> None:
    """Make a replica the master, as a failover does."""
    with server.client() as client:
        client.execute_command("REPLICAOF", "NO", "ONE")
        until(lambda: "master" in str(client.role()[0]))


@pytest.fixture
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    pair = pair_in(tmp_path_factory.mktemp("pair"), appendfsync="no")
    yield pair
    pair.stop()


@pytest.fixture
def shop_over(tmp_path: Path, tables: Path) -> Iterator[Callable[..., Services]]:
    """Make services over a store, with the database in `books`."""
    made: list[Services] = []

    def make(
        store: StoreServer, durability: str = "replicated", books: Path = tmp_path
    ) -> Services:
        if not (books / "orders.db").exists():
            shutil.copy(tables, books / "orders.db")
        settings = Settings(
            redis_url=store.url, var_dir=str(books), store_timeout=SHORT, durability=durability
        )
        made.append(Services(settings))
        return made[-1]

    yield make
    for each in made:
        each.store.connection_pool.disconnect()
        each.engine.dispose()
