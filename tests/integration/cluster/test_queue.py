"""A thread's own connections to a cluster follow the lock: nodes die, and slots move."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from redis.cluster import RedisCluster

from app.domain import Clock
from app.locks.queue.connections import connections
from app.locks.queue.line import Line
from app.store.redis import connect
from tests.cluster import ClusterServer
from tests.servers import until

NAME = "{apple}:1:lock"


@pytest.fixture(params=["ours", "redis-py's"])
def client(
    request: pytest.FixtureRequest, own_cluster: ClusterServer
) -> Iterator[redis.Redis | RedisCluster]:
    made: redis.Redis | RedisCluster
    if request.param == "ours":
        made = connect(own_cluster.url, 400)
    else:
        made = RedisCluster(host="127.0.0.1", port=own_cluster.nodes[0].port, socket_timeout=0.4)
    yield made
    made.close()


def test_a_thread_finds_the_new_primary_while_the_old_one_is_down(
    client: redis.Redis | RedisCluster, own_cluster: ClusterServer, tmp_path: Path
) -> None:
    primary = own_cluster.node_of(NAME)
    own_cluster.add_replica(tmp_path / "replica", primary)
    line = Line(client, Clock(), NAME, 0.5)

    def sell() -> bool:
        try:
            return line.acquire("me", True, 1) is not None and line.release("me")
        except redis.RedisError:
            return False

    assert sell()
    primary.kill()
    until(sell, 30)
    connections(client, line.tag).close()
