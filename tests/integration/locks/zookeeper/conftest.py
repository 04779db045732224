"""A ZooKeeper whose sessions end soon, and that the tests may kill and freeze."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from app.config import Settings
from app.domain import Clock
from app.locks.zookeeper import Zookeeper
from app.store.servers import Servers
from tests.support.forked_process import Forked
from tests.support.lock_holder import hold
from tests.support.zookeeper import LIMIT, SESSION, ZooKeeperServer, leave


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperServer]:
    with ZooKeeperServer(tmp_path_factory.mktemp("zookeeper"), SESSION) as server:
        yield server


@pytest.fixture
def settings(server: ZooKeeperServer) -> Settings:
    return Settings(zookeeper_hosts=server.hosts, store_timeout=round(LIMIT * 1000))


@pytest.fixture
def session(server: ZooKeeperServer, settings: Settings) -> Iterator[Callable[[], Servers]]:
    """Make sessions; restore the server and close them in the end."""
    made: list[Servers] = []

    def make() -> Servers:
        made.append(Servers(settings))
        return made[-1]

    yield make
    server.restore()
    for each in made:
        leave(each.zookeeper)


@pytest.fixture
def servers(session: Callable[[], Servers]) -> Servers:
    """The session of this process."""
    return session()


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    """A line of the test's own."""
    return str(request.node.name)


@pytest.fixture
def lock(servers: Servers, key: str) -> Callable[..., Zookeeper]:
    def make(clock: Clock | None = None, at: Servers = servers) -> Zookeeper:
        return Zookeeper(at.zookeeper, key, clock=clock or Clock())

    return make


@pytest.fixture
def contender(settings: Settings, key: str) -> Iterator[Callable[[], Forked]]:
    """Make processes that contend for the same lock."""
    made: list[Forked] = []

    def make() -> Forked:
        made.append(Forked(hold, settings, "zookeeper", 10.0, "", key))
        return made[-1]

    yield make
    for each in made:
        each.close()
