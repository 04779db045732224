"""Five masters that the tests of a file share, and may kill and freeze."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.config import Settings
from app.store.servers import MASTERS_SHARE, Servers
from tests.support.redlock import TIMEOUT, Reach
from tests.support.servers import StoreServer


@pytest.fixture
def up(own_masters: list[StoreServer]) -> list[StoreServer]:
    return own_masters[:5]


@pytest.fixture
def servers() -> Iterator[Reach]:
    """Make clients of some masters, and close them in the end."""
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
