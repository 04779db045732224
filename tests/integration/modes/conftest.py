"""Every mode keeps its contract on a cluster too."""

from __future__ import annotations

import pytest

from tests.cluster import ClusterServer
from tests.servers import STORES, StoreServer


@pytest.fixture(scope="session", params=[*STORES, "cluster"])
def store_server(request: pytest.FixtureRequest) -> StoreServer | ClusterServer:
    server: StoreServer | ClusterServer = request.getfixturevalue(request.param)
    return server
