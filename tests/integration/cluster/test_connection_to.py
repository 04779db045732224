"""A connection of one's own leads to the node that serves the key, whatever the client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis
from fairlock.clients import connection_to
from redis.cluster import RedisCluster

from app.domain import ITEMS
from app.store.clients.cluster import Cluster
from app.store.clients.redis import connect
from tests.support.cluster import CLIENTS, ClusterServer, client_of
from tests.support.servers import StoreServer

KEYS = [f"{{{item}}}:lock" for item in ITEMS]  # of all three nodes


@pytest.fixture(params=CLIENTS)
def client(
    request: pytest.FixtureRequest, cluster: ClusterServer
) -> Iterator[redis.Redis | RedisCluster]:
    made = client_of(request.param, cluster)
    yield made
    made.close()


def test_on_a_cluster(client: redis.Redis | RedisCluster, cluster: ClusterServer) -> None:
    for key in KEYS:
        wire = connection_to(client, key)
        wire.send_command("SET", key, "x")  # the wrong node would answer MOVED
        assert wire.read_response() == b"OK"
        wire.disconnect()


@pytest.mark.parametrize("ours", [True, False])
def test_on_a_single_server(valkey: StoreServer, ours: bool) -> None:
    client = connect(valkey.url, 1_000) if ours else redis.Redis.from_url(valkey.url)
    client.ping()
    wire = connection_to(client, "lock")
    wire.send_command("CLIENT", "ID")
    assert wire.read_response() != client.client_id(), "a connection of its own"
    wire.disconnect()
    client.close()


def test_what_else_the_url_says_holds_for_every_node() -> None:
    client = connect("rediss+cluster://me:p%7B%7D{}@a:1,[::1]:2/0?ssl_cert_reqs=none", 1_000)
    assert isinstance(client, Cluster)
    for host, port in client.topology.known:
        kwargs = client.topology.node(host, port).connection_pool.connection_kwargs
        assert (kwargs["host"], kwargs["port"]) == (host, port)
        assert (kwargs["username"], kwargs["password"]) == ("me", "p{}{}")
        assert (kwargs["ssl_cert_reqs"], kwargs["socket_timeout"]) == ("none", 1.0)
    assert client.topology.known == [("a", 1), ("::1", 2)]
