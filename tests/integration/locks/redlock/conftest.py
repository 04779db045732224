"""Five masters that the tests of a file share, and may kill and freeze."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from app.config import Settings
from app.store.servers import MASTERS_SHARE, Servers
from tests.support.redlock import TIMEOUT, Reach
from tests.support.servers import StoreServer, several_stores


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[StoreServer]]:
    with several_stores(tmp_path_factory.mktemp("masters"), 5) as servers:
        yield servers


@pytest.fixture
def up(every: list[StoreServer]) -> Iterator[list[StoreServer]]:
    """Five empty masters, whatever the test before did to them."""
    for server in every:
        with redis.Redis.from_url(server.url) as client:
            client.flushall()
    yield every
    for server in every:
        server.thaw()
        if server.process.poll() is not None:
            server.start()


@pytest.fixture
def servers() -> Iterator[Reach]:
    """Makes clients of some masters, and closes them in the end."""
    made: list[Servers] = []

    def make(masters: list[StoreServer]) -> Servers:
        urls = ",".join(master.url for master in masters)
        made.append(
            Servers(
                Settings(redlock_urls=urls, store_timeout=round(TIMEOUT * MASTERS_SHARE * 1000))
            )
        )
        return made[-1]

    yield make
    for each in made:
        for client in each.masters:
            client.connection_pool.disconnect()
