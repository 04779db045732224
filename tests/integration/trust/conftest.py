"""A shop of its own, over a store from which its tests remove records."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.bootstrap import Services
from app.config import Settings
from tests.support.servers import StoreServer


@pytest.fixture
def server(own_store: StoreServer) -> StoreServer:
    return own_store


@pytest.fixture
def settings(server: StoreServer, tmp_path: Path) -> Settings:
    return Settings(redis_url=server.url, var_dir=str(tmp_path), store_timeout=3_000)


@pytest.fixture
def services(settings: Settings, tables: Path) -> Iterator[Services]:
    """A shop of its own over an empty store and an empty database."""
    shutil.copy(tables, Path(settings.var_dir) / "orders.db")
    services = Services(settings)
    yield services
    services.store.connection_pool.disconnect()
    services.engine.dispose()
