"""Hosts of one shop: one store and one database, each host with settings of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from app.bootstrap import Services
from app.config import Settings
from app.service.purchase import Purchase
from tests.support.servers import StoreServer

NewHost = Callable[..., Services]


@pytest.fixture
def masters(own_masters: list[StoreServer]) -> list[StoreServer]:
    return own_masters


@pytest.fixture
def new_host(services: Services, tmp_path: Path) -> Iterator[NewHost]:
    """Return services with a VAR_DIR of their own; the store is empty at first."""
    made: list[Services] = []

    def make(masters: Sequence[StoreServer | str] = (), zookeeper_hosts: str = "") -> Services:
        urls = (each if isinstance(each, str) else each.url for each in masters)
        settings = Settings(
            redis_url=services.settings.redis_url,
            database_url=services.settings.database,
            store_timeout=services.settings.store_timeout,
            var_dir=str(tmp_path / f"host-{len(made)}"),
            redlock_urls=",".join(urls),
            zookeeper_hosts=zookeeper_hosts,
        )
        settings.var.mkdir()
        made.append(Services(settings))
        return made[-1]

    yield make
    for each in made:
        each.store.close()
        each.engine.dispose()
        shutil.rmtree(each.settings.var)


@pytest.fixture
def new_worker() -> Callable[[Services], Purchase]:
    """Return a worker that beats only when its test says so (`refresh`)."""
    return lambda host: Purchase(host.servers, host.rounds, host.holds)
