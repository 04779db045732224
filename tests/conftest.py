"""Options, and the servers and parts that the tests share."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from sqlalchemy import make_url

from app.config import Settings
from app.domain import Clock
from app.locks import LOCKS
from app.modes import MODES
from app.parts import Parts
from app.service.purchase import Purchase
from app.service.tally import Tally
from app.store import db
from app.store.redis import connect
from tests.cluster import ClusterServer
from tests.servers import (
    STORES,
    PostgresServer,
    StoreServer,
    postgres_server,
    redis_server,
    several_stores,
)
from tests.zookeeper import ZooKeeperServer, leave

MEMORY = Path("/dev/shm")  # noqa: S108 -- tempfile makes folders of its own in it
ROOM = 4 * 2**30  # bytes; a run of all tests takes a fraction of it


def pytest_configure() -> None:
    _files_in_memory()
    signals_as_usual()


def signals_as_usual() -> None:
    """What we were started to ignore, as a shell does in the background and `nohup` does, the
    commands that we start would ignore too: Ctrl-C, of all things. A handler is not handed on."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # some tests raise it themselves
    for number in (signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def _files_in_memory() -> None:
    """Keep the tests' files in memory where there is room.

    Their servers sync what they write, and nobody here pulls a plug: what a killed process has
    written is there all the same, and no test waits for the disk of a busy machine.
    """
    if "TMPDIR" in os.environ or not MEMORY.is_dir():
        return
    runs_programs = not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
    if runs_programs and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--runs", type=int, help="repetitions of each soak test (make soak: 20)")


@pytest.fixture
def runs(request: pytest.FixtureRequest) -> int:
    count: int = request.config.getoption("--runs") or 1
    return count


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    server = StoreServer(tmp_path_factory.mktemp("valkey"), appendfsync="no")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def debians(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    server = StoreServer(tmp_path_factory.mktemp("redis"), redis_server(), appendfsync="no")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterServer]:
    """Three nodes that many tests share; who kills one makes a cluster of his own."""
    server = ClusterServer(tmp_path_factory.mktemp("cluster"), appendfsync="no")
    yield server
    server.stop()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that uses a store on each of the STORES, or on those its module RUNS_ON.

    What is marked `again` runs as often as the soak says.
    """
    runs = metafunc.config.getoption("--runs")
    if runs and metafunc.definition.get_closest_marker("again"):
        metafunc.fixturenames.append("run")
        metafunc.parametrize("run", range(1, runs + 1))
    if "store_server" in metafunc.fixturenames:
        stores = getattr(metafunc.module, "RUNS_ON", STORES)
        metafunc.parametrize("store_server", stores, indirect=True, scope="session")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A way of selling that keeps its stock, or its lock, elsewhere meets the store no differently
    on each kind of store than `lock:lease` does: it is tried on the first kind only."""
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        known: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
        elsewhere = lives_in(str(known.get("name", ""))) != "store"
        again = known.get("store_server", "valkey") != "valkey"
        (left if elsewhere and again else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left)


@pytest.fixture(scope="session")
def store_server(request: pytest.FixtureRequest) -> StoreServer | ClusterServer:
    """A store that many tests share; each begins with it empty (see `parts`)."""
    server: StoreServer | ClusterServer = request.getfixturevalue(request.param)
    return server


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """For a test that stops it."""
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with all tables and no rows. To copy it takes a hundredth of what the
    migrations take, which was most of a short test."""
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
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of each kind, with its tables."""
    if request.param == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres")
        return server.database(request.getfixturevalue("postgres_tables"))
    return f"sqlite:///{tmp_path / 'orders.db'}"


@pytest.fixture(scope="session")
def masters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[StoreServer]]:
    """Redlock's three, shared as the store is."""
    with several_stores(tmp_path_factory.mktemp("masters"), 3) as servers:
        yield servers


@pytest.fixture(scope="session")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperServer]:
    server = ZooKeeperServer(tmp_path_factory.mktemp("zookeeper"), session=4)
    yield server
    server.stop()


def lives_in(name: str) -> str:
    """What of `Servers` a mode, a recipe or `lock:recipe` needs; the store, if it is none."""
    mode, _, recipe = name.partition(":")
    known = LOCKS.get(recipe or mode) or MODES.get(mode)
    return known.needs if known else "store"


@pytest.fixture
def beside_the_store(request: pytest.FixtureRequest) -> dict[str, str]:
    """Where the servers are that the test's recipe needs; only these are started."""
    callspec: Any = getattr(request.node, "callspec", None)
    needs = lives_in(str(callspec.params.get("name", "")) if callspec else "")
    if needs == "masters":
        masters: list[StoreServer] = request.getfixturevalue("masters")
        return {"redlock_urls": ",".join(master.url for master in masters)}
    if needs == "zookeeper":
        zookeeper: ZooKeeperServer = request.getfixturevalue("zookeeper")
        return {"zookeeper_hosts": zookeeper.hosts}
    return {}


@pytest.fixture
def settings(
    request: pytest.FixtureRequest,
    store_server: StoreServer | ClusterServer,
    beside_the_store: dict[str, Any],
    tmp_path: Path,
) -> Settings:
    """Over SQLite; a test that uses `database_url` runs over each database."""
    named = "database_url" in request.fixturenames
    return Settings(
        **beside_the_store,
        redis_url=store_server.url,
        database_url=request.getfixturevalue("database_url") if named else "",
        var_dir=str(tmp_path),
        # Tests share two cores with the servers: a slow answer is not what they are about.
        store_timeout=3_000,
        database_timeout=30_000,
    )


@pytest.fixture(autouse=True)
def _nothing_runs_on(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test's locks renew ends with it (one recipe would go on for ever: `watchdog_any`), and
    so do the beats of its shops."""
    started: list[Callable[[], None]] = []
    every, begin = Clock.every, Tally.__init__

    def noted(clock: Clock, seconds: float, deed: Callable[[], bool]) -> Callable[[], None]:
        started.append(every(clock, seconds, deed))
        return started[-1]

    def begun(tally: Tally, store: redis.Redis, on_beat: Callable[[], None]) -> None:
        begin(tally, store, on_beat)
        started.append(tally.stop)

    monkeypatch.setattr(Clock, "every", noted)
    monkeypatch.setattr(Tally, "__init__", begun)
    yield
    for stop in started:
        stop()


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
def parts(settings: Settings, tables: Path) -> Iterator[Parts]:
    """The services over an empty store and an empty database."""
    where = make_url(settings.database)
    if where.get_backend_name() == "sqlite" and where.database:
        shutil.copy(tables, where.database)
    parts = Parts(settings)
    patient = connect(settings.redis_url, 10_000)
    patient.flushall()
    patient.close()
    if settings.redlock_urls:
        for master in parts.servers.masters:
            master.flushall()
    yield parts
    if settings.redlock_urls:
        for master in parts.servers.masters:
            master.connection_pool.disconnect()
    if settings.zookeeper_hosts:
        leave(parts.servers.zookeeper)
    parts.store.close()
    parts.engine.dispose()
