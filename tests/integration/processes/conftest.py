"""Shops of a test's own or of a file's, closed whatever happens in the tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.support.servers import StoreServer
from tests.support.shop import NewShop, Shop


@pytest.fixture
def new_shop() -> Iterator[NewShop]:
    """Start shops of the test's own."""
    with ExitStack() as stack:
        yield lambda folder, **environ: stack.enter_context(Shop(folder, **environ))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    with StoreServer(tmp_path_factory.mktemp("store")) as server:
        yield server


@pytest.fixture(scope="module")
def shop(store: StoreServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop over a store that the tests may kill, if they start it again."""
    with Shop(tmp_path_factory.mktemp("shop"), REDIS_URL=store.url) as shop:
        yield shop
