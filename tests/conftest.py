"""The servers and services that the tests share."""

from __future__ import annotations

import gc
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from badluck.sandbox import client, limits
from sqlalchemy import Engine, create_engine, make_url

from app.bootstrap import Services
from app.config import Settings
from app.domain import Clock
from app.service.purchase import Purchase
from app.service.worker_status import StatusReporter
from app.store.clients.redis import connect
from app.store.sql import db
from tests.support.cluster import ClusterServer
from tests.support.collection import lives_in
from tests.support.collection import pytest_addoption as pytest_addoption
from tests.support.collection import pytest_collection_modifyitems as pytest_collection_modifyitems
from tests.support.collection import pytest_generate_tests as pytest_generate_tests
from tests.support.contract import hold_all_answers
from tests.support.environment import files_in_memory, signals_as_usual
from tests.support.servers import (
    PostgresServer,
    StoreServer,
    postgres_server,
    redis_server,
    several_stores,
)
from tests.support.zookeeper import ZooKeeperServer, leave

PATIENCE = 120  # s


def pytest_configure() -> None:
    files_in_memory()
    hold_all_answers()
    signals_as_usual()


@pytest.fixture
def time_outs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note the thread of each wait for a store that times out.

    A test counts these. Otherwise it would depend on how long the machine takes for the rest.
    """
    noted: list[int] = []
    monkeypatch.setattr(
        redis.TimeoutError, "__init__", lambda *_: noted.append(threading.get_ident())
    )
    return noted


@pytest.fixture
def small_heap() -> Iterator[None]:
    """Let the garbage collector look only at this test's objects, not at those of all earlier
    tests.
    """
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def runs(request: pytest.FixtureRequest) -> int:
    count: int = request.config.getoption("--runs") or 1
    return count


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    with StoreServer(tmp_path_factory.mktemp("valkey"), appendfsync="no") as server:
        yield server


@pytest.fixture(scope="session")
def debians(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    with StoreServer(tmp_path_factory.mktemp("redis"), redis_server(), appendfsync="no") as server:
        yield server


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterServer]:
    """Three nodes that many tests share; a test that kills one makes a cluster of its own."""
    with ClusterServer(tmp_path_factory.mktemp("cluster"), appendfsync="no") as server:
        yield server


@pytest.fixture(scope="session")
def _own_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    with StoreServer(tmp_path_factory.mktemp("own")) as server:
        yield server


@pytest.fixture
def own_store(_own_store: StoreServer) -> Iterator[StoreServer]:
    """An empty store for a test that kills it, freezes it or cuts its log."""
    with _own_store.client() as client:
        client.flushall()
    yield _own_store
    _own_store.restore()


@pytest.fixture(scope="session")
def store_server(request: pytest.FixtureRequest) -> StoreServer | ClusterServer:
    """A store that many tests share; each begins with it empty (see `services`)."""
    server: StoreServer | ClusterServer = request.getfixturevalue(request.param)
    return server


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL for a test that stops it."""
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with all tables and no rows. Copying it takes a hundredth of the migrations'
    time, which was most of a short test.
    """
    file = tmp_path_factory.mktemp("tables") / "orders.db"
    engine = db.engine(f"sqlite:///{file}", 30_000)
    db.migrate(engine)
    engine.dispose()
    return file


@pytest.fixture(scope="session")
def postgres_tables(postgres: PostgresServer) -> str:
    """The same in PostgreSQL: the name of a database to be copied."""
    url = postgres.database()
    engine = db.engine(url, 30_000)
    db.migrate(engine)
    engine.dispose()
    return str(engine.url.database)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of each kind, with its tables."""
    if request.param == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres")
        url = server.database(request.getfixturevalue("postgres_tables"))
        yield url
        server.drop(url)
    else:
        yield f"sqlite:///{tmp_path / 'orders.db'}"


@pytest.fixture(scope="session")
def masters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[StoreServer]]:
    """Redlock's three masters, shared as the store is."""
    with several_stores(tmp_path_factory.mktemp("masters"), 3) as servers:
        yield servers


@pytest.fixture(scope="session")
def _six(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[StoreServer]]:
    with several_stores(tmp_path_factory.mktemp("six"), 6) as servers:
        yield servers


@pytest.fixture
def own_masters(_six: list[StoreServer]) -> Iterator[list[StoreServer]]:
    """Six empty masters that the test may kill and freeze."""
    for server in _six:
        with server.client() as client:
            client.flushall()
    yield _six
    for server in _six:
        server.restore()


@pytest.fixture(scope="session")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperServer]:
    with ZooKeeperServer(tmp_path_factory.mktemp("zookeeper"), session=4) as server:
        yield server


@pytest.fixture
def beside_the_store(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Settings for the servers that the test's recipe needs; only these are started."""
    callspec: Any = getattr(request.node, "callspec", None)
    needs = lives_in(str(callspec.params.get("name", "")) if callspec else "")
    if needs == "masters":
        masters: list[StoreServer] = request.getfixturevalue("masters")
        return {"redlock_urls": ",".join(master.url for master in masters)}
    if needs == "zookeeper":
        zookeeper: ZooKeeperServer = request.getfixturevalue("zookeeper")
        return {"zookeeper_hosts": zookeeper.hosts, "store_timeout": 30_000}  # a JVM starts slowly
    return {}


@pytest.fixture
def settings(
    request: pytest.FixtureRequest,
    store_server: StoreServer | ClusterServer,
    beside_the_store: dict[str, Any],
    tmp_path: Path,
) -> Settings:
    """Settings over SQLite; a test that uses `database_url` runs over each database."""
    named = "database_url" in request.fixturenames
    # Tests share two cores with the servers, and do not test for slow answers.
    patient = {"store_timeout": 3_000, "database_timeout": 30_000} | beside_the_store
    return Settings(
        **patient,
        redis_url=store_server.url,
        database_url=request.getfixturevalue("database_url") if named else "",
        var_dir=str(tmp_path),
    )


@pytest.fixture(autouse=True)
def _slow_machines_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each search of a file ten times what it takes on a slow machine with other work."""
    monkeypatch.setattr(client, "SEARCH_S", PATIENCE)
    monkeypatch.setattr(client, "DEADLINE_S", PATIENCE + limits.SHOWING_S)


@pytest.fixture(autouse=True)
def _nothing_runs_on(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """End all that a test has started: renewals, heartbeats, and connections to the database.

    The renewals of one recipe, `watchdog_any`, would run forever.
    """
    started: list[Callable[[], None]] = []
    engines: list[Engine] = []
    every, start = Clock.every, StatusReporter.start

    def noted(clock: Clock, seconds: float, deed: Callable[[], bool]) -> Callable[[], None]:
        started.append(every(clock, seconds, deed))
        return started[-1]

    def begun(reporter: StatusReporter) -> None:
        start(reporter)
        started.append(reporter.stop)

    def created(*args: Any, **options: Any) -> Engine:
        engine = create_engine(*args, **options)
        engines.append(engine)
        return engine

    monkeypatch.setattr(Clock, "every", noted)
    monkeypatch.setattr(StatusReporter, "start", begun)
    monkeypatch.setattr("app.store.sql.db.create_engine", created)
    yield
    for stop in reversed(started):
        stop()
    for engine in engines:  # last: what is stopped above may use it
        engine.dispose()


@pytest.fixture
def worker(services: Services) -> Iterator[Callable[[], Purchase]]:
    """Make selling workers, and stop them in the end."""
    made: list[Purchase] = []

    def make() -> Purchase:
        made.append(services.purchase())
        return made[-1]

    yield make
    for each in made:
        each.reporter.stop()


@pytest.fixture
def services(settings: Settings, tables: Path) -> Iterator[Services]:
    """The services over an empty store and an empty database."""
    where = make_url(settings.database)
    if where.get_backend_name() == "sqlite" and where.database:
        shutil.copy(tables, where.database)
    services = Services(settings)
    patient = connect(settings.redis_url, 10_000)
    patient.flushall()
    patient.close()
    if settings.redlock_urls:
        for master in services.servers.masters:
            master.flushall()
    yield services
    if settings.redlock_urls:
        for master in services.servers.masters:
            master.connection_pool.disconnect()
    if settings.zookeeper_hosts:
        leave(services.servers.zookeeper)
    services.store.close()
    services.engine.dispose()
