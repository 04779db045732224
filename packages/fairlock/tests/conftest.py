"""Servers, and clients as their users make them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.cluster import RedisCluster
from servers.valkey import Cluster, Valkey

sys.path.insert(0, str(Path(__file__).parent))  # for the modules that tests share
from fairlock_waiters import count_commands

ON = ["valkey", "cluster"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that uses `client` runs on each kind of server, or on those its module RUNS_ON."""
    if "client" in metafunc.fixturenames:
        metafunc.parametrize("kind", getattr(metafunc.module, "RUNS_ON", ON), scope="session")
    # Flaky failures are searched for by repeating, on request (the checkout's `make soak`).
    runs = metafunc.config.getoption("--runs", 0)
    if runs and metafunc.definition.get_closest_marker("again"):
        metafunc.fixturenames.append("run")
        metafunc.parametrize("run", range(runs))


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    with Valkey(tmp_path_factory.mktemp("fairlock")) as server:
        yield server


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("fairlock-cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def debians(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    """A Redis server, if one is installed next to the Valkey of the wheel."""
    found = shutil.which("redis-server")
    assert found or not os.environ.get("CI"), "CI needs redis-server"
    if found is None:
        pytest.skip("no redis-server here; on Debian: apt install redis-server")
    with Valkey(tmp_path_factory.mktemp("fairlock-redis"), program=found) as server:
        yield server


@pytest.fixture(params=["valkey", pytest.param("debians", id="redis")])
def url(request: pytest.FixtureRequest) -> str:
    server: Valkey = request.getfixturevalue(request.param)
    return server.url


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Valkey]:
    """A server for a test that kills or freezes it."""
    with Valkey(tmp_path / "server") as server:
        yield server


@pytest.fixture
def decoded() -> bool:
    return False


@pytest.fixture
def client(request: pytest.FixtureRequest, kind: str, decoded: bool) -> Iterator[redis.Redis]:
    """A client of an empty server, or of an empty cluster."""
    made: Any
    if kind == "cluster":
        port = request.getfixturevalue("cluster").nodes[0].port
        made = RedisCluster("127.0.0.1", port, decode_responses=decoded)
    else:
        url = request.getfixturevalue(kind).url
        made = redis.Redis.from_url(url, decode_responses=decoded)
    with made as client:
        client.flushall()
        yield client


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(80) as pool:
        yield pool


@pytest.fixture(autouse=True)
def _commands_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    count_commands(monkeypatch)
