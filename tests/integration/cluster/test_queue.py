"""A thread's own connections to a cluster follow the lock: nodes die, and slots move."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import redis
from fairlock.clock import SystemClock
from fairlock.connections import connections
from fairlock.queue import WaitQueue
from redis.cluster import RedisCluster

from tests.support.cluster import CLIENTS, ClusterServer, client_of
from tests.support.servers import until

NAME = "{apple}:1:lock"


@pytest.fixture(params=CLIENTS)
def client(
    request: pytest.FixtureRequest, own_cluster: ClusterServer
) -> Iterator[redis.Redis | RedisCluster]:
    made = client_of(request.param, own_cluster)
    yield made
    made.close()


def test_a_thread_finds_the_new_primary_while_the_old_one_is_down(
    client: redis.Redis | RedisCluster, own_cluster: ClusterServer, tmp_path: Path
) -> None:
    primary = own_cluster.node_of(NAME)
    own_cluster.add_replica(tmp_path / "replica", primary)
    line = WaitQueue(client, NAME, 0.5, clock=SystemClock())

    def sell() -> bool:
        try:
            return line.acquire("me", True, 1) is not None and line.release("me")
        except redis.RedisError:
            return False

    assert sell()
    primary.kill()
    until(sell, 30)
    connections(client, line.tag).close()


def test_a_waiter_follows_the_slot(
    client: redis.Redis | RedisCluster, own_cluster: ClusterServer
) -> None:
    """The old node closes the connection, and answers MOVED to a new subscription."""
    first, second = (WaitQueue(client, NAME, 30.0, clock=SystemClock()) for _ in range(2))
    assert first.acquire("first", True, None)

    def wait() -> bool:
        try:
            return second.acquire("second", True, 10) is not None and second.release("second")
        finally:
            connections(client, second.tag).close()

    with ThreadPoolExecutor(1) as pool:
        waiter = pool.submit(wait)
        until(lambda: client.llen(f"{NAME}:line") == 1)
        own_cluster.move(NAME)
        until(lambda: waiter.done() or _listens(own_cluster, NAME))
        assert first.release("first")
        assert waiter.result(10)
    connections(client, first.tag).close()


def _listens(cluster: ClusterServer, name: str) -> bool:
    """Is there a subscriber on the node that has the lock now?"""
    with cluster.node_of(name).client() as node:
        return bool(node.execute_command("PUBSUB", "SHARDCHANNELS"))
