"""Servers, and clients as their users make them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for what the tests share
import autopipe
from autopipe_servers import Proxy, Server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("autopipe") / "valkey")
    yield server
    server.stop()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """For a test that kills or freezes it."""
    server = Server(tmp_path / "server")
    yield server
    server.stop()


@pytest.fixture
def client(server: Server) -> Iterator[autopipe.Redis]:
    with autopipe.Redis.from_url(server.url, socket_timeout=10) as client:
        client.flushall()
        yield client


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    proxy = Proxy(server)
    yield proxy
    proxy.close()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(40) as pool:
        yield pool
