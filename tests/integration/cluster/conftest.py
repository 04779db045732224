"""The shop's services on a cluster: a shared one, or one of a test's own that it may break."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster import ClusterServer


@pytest.fixture(scope="session")
def store_server(cluster: ClusterServer) -> ClusterServer:
    return cluster


@pytest.fixture
def own_cluster(tmp_path: Path) -> Iterator[ClusterServer]:
    """A killed node's writes stay in the kernel, so a slow disk does not affect the times."""
    with ClusterServer(tmp_path / "cluster", appendfsync="no") as server:
        yield server
