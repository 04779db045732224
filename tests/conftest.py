"""Options, and the servers and parts that the tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app import Parts
from app.config import Settings
from app.service.purchase import Purchase
from tests.servers import PostgresServer, StoreServer, redis_server


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--runs", type=int, default=2, help="repetitions of each soak test (soak: 20)")


@pytest.fixture
def runs(request: pytest.FixtureRequest) -> int:
    count: int = request.config.getoption("--runs")
    return count


@pytest.fixture(scope="session", params=["valkey", "redis"])
def store_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StoreServer]:
    """A store that many tests share; each begins with it empty (see `parts`)."""
    program = redis_server() if request.param == "redis" else None
    server = StoreServer(tmp_path_factory.mktemp(request.param), program, appendfsync="no")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    server = PostgresServer(tmp_path_factory.mktemp("postgres"))
    yield server
    server.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if request.param == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres")
        return server.database()
    return f"sqlite:///{tmp_path / 'orders.db'}"


@pytest.fixture
def settings(request: pytest.FixtureRequest, store_server: StoreServer, tmp_path: Path) -> Settings:
    """Over SQLite; a test that uses `database_url` runs over each database."""
    named = "database_url" in request.fixturenames
    return Settings(
        redis_url=store_server.url,
        database_url=request.getfixturevalue("database_url") if named else "",
        var_dir=str(tmp_path),
        # Tests share two cores with the servers: a slow answer is not what they are about.
        store_timeout=3_000,
    )


@pytest.fixture
def worker(parts: Parts) -> Iterator[Callable[[], Purchase]]:
    """Makes selling workers, and stops them in the end."""
    made: list[Purchase] = []

    def make() -> Purchase:
        made.append(parts.purchase())
        return made[-1]

    yield make
    for each in made:
        each.tally.stop()


@pytest.fixture
def parts(settings: Settings) -> Iterator[Parts]:
    """The services over an empty store and an empty database."""
    parts = Parts(settings)
    parts.store.flushall()
    parts.migrate()
    yield parts
    parts.store.close()
    parts.engine.dispose()
