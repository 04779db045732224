"""`lastapple prepare` on several hosts at once: one prepares, the others wait."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from app.bootstrap import Services
from app.config import Settings
from app.domain import ITEMS
from tests.support.command_line import full_environ
from tests.support.servers import PostgresServer, StoreServer, until

WAITS = "Another process prepares"


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of a database without tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'orders.db'}"
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.database()


@pytest.fixture
def settings(empty_database: str, valkey: StoreServer, tmp_path: Path) -> Settings:
    with valkey.client() as client:
        client.flushall()
    return Settings(
        redis_url=valkey.url, database_url=empty_database, var_dir=str(tmp_path), store_timeout=3000
    )


class Host:
    """One process with the settings, `lastapple prepare` by default."""

    def __init__(self, settings: Settings, arguments: Sequence[str]) -> None:
        self.output = settings.var / f"{id(self)}.log"
        environ = {
            "REDIS_URL": settings.redis_url,
            "DATABASE_URL": settings.database_url,
            "VAR_DIR": str(settings.var),
            "STORE_TIMEOUT": str(settings.store_timeout),
        }
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, *arguments],
                env=full_environ(environ),
                stdout=output,
                stderr=output,
            )

    def said(self) -> str:
        return self.output.read_text()


@contextmanager
def hosts(settings: Settings, count: int, *arguments: str) -> Iterator[list[Host]]:
    prepare = ("-m", "app.cli", "prepare")
    started = [Host(settings, arguments or prepare) for _ in range(count)]
    try:
        yield started
    finally:
        for host in started:
            host.process.kill()
            host.process.wait()


def test_each_item_is_stocked_by_one_of_three_hosts(settings: Settings) -> None:
    with hosts(settings, 3) as three:
        for host in three:
            assert host.process.wait(60) == 0, host.said()
        stocked = "".join(host.said() for host in three).count("  stocked ")
    services = Services(settings)
    newest = [services.rounds.newest(item) for item in ITEMS]
    assert [round and round.number for round in newest] == [1] * len(ITEMS)
    assert stocked == len(ITEMS)


def test_a_second_host_waits_until_the_first_has_prepared(settings: Settings) -> None:
    with ExitStack() as first:
        first.enter_context(Services(settings).preparing())
        with hosts(settings, 1) as (second,):
            until(lambda: WAITS in second.said(), 60)
            assert "migrated" not in second.said()
            first.close()
            assert second.process.wait(60) == 0, second.said()


def test_a_host_that_dies_while_it_prepares_lets_the_next_one_in(settings: Settings) -> None:
    holds = "from app.cli.output import services; import time\n"
    holds += "with services().preparing(): print('holds', flush=True); time.sleep(600)"
    with hosts(settings, 1, "-c", holds) as (first,):
        until(lambda: "holds" in first.said(), 60)
        with hosts(settings, 1) as (second,):
            until(lambda: WAITS in second.said(), 60)
            first.process.kill()
            assert second.process.wait(60) == 0, second.said()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "orders.db"
    settings = Settings(database_url=f"sqlite:///{missing}", var_dir=str(tmp_path))
    with hosts(settings, 1) as (host,):
        assert host.process.wait(60) == 1
        assert f"Cannot write {missing}.lock (No such file or directory)." in host.said()
