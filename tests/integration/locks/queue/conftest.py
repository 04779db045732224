"""Threads that wait, and a store that a test may kill."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.servers import StoreServer


@pytest.fixture
def own_store(tmp_path: Path) -> Iterator[StoreServer]:
    server = StoreServer(tmp_path / "store")
    yield server
    server.stop()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(80) as pool:
        yield pool
