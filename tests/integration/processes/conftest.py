"""Shops of a test's own or of a file's, closed whatever becomes of the tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.servers import StoreServer
from tests.support.shop import Shop


@pytest.fixture
def new_shop() -> Iterator[Callable[..., Shop]]:
    """Makes shops as Shop() does."""
    made: list[Shop] = []

    def make(folder: Path, **environ: str) -> Shop:
        made.append(Shop(folder, **environ))
        return made[-1]

    yield make
    for shop in made:
        shop.close()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    server = StoreServer(tmp_path_factory.mktemp("store"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def shop(store: StoreServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Over a store that the tests may kill, if they start it again."""
    shop = Shop(tmp_path_factory.mktemp("shop"), REDIS_URL=store.url)
    shop.start()
    yield shop
    shop.close()
