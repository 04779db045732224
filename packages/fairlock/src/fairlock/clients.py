"""Connections for a lock, from any kind of client, to the right server.

redis-py's two kinds of clients are supported. Another client of a cluster, with a topology of its
own, provides the two methods of `ClusterClient`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Protocol, runtime_checkable

import redis
from redis.cluster import RedisCluster
from redis.connection import AbstractConnection
from redis.exceptions import MovedError, RedisClusterException


@runtime_checkable
class ClusterClient(Protocol):
    """A client of several servers that is not redis-py's own."""

    def connection_to(self, key: str, **options: Any) -> AbstractConnection:
        """Return a new connection to the server of `key`; `options` override the client's."""
        ...

    def learn_from(self, error: redis.RedisError) -> None:
        """Handle the error of such a connection: MOVED, or an unreachable server."""
        ...


def is_cluster(client: redis.Redis | RedisCluster) -> bool:
    """Say whether the client's keys are spread over several servers."""
    return isinstance(client, RedisCluster | ClusterClient)


def connection_to(
    client: redis.Redis | RedisCluster, key: str, **options: Any
) -> AbstractConnection:
    """Return a new connection to the server of `key`; the caller connects and closes it.

    It has the class of the client's connections, but is not from the pool, since a subscriber waits
    longer than a command takes. If the key's slot has moved, the server answers MOVED, or not at
    all: then call learn_from() with the error, and retry.
    """
    if isinstance(client, ClusterClient):
        return client.connection_to(key, **options)
    if isinstance(client, RedisCluster):
        client = client.get_redis_connection(client.get_node_from_key(key))
    pool = client.connection_pool
    connection: AbstractConnection = pool.connection_class(**pool.connection_kwargs | options)
    return connection


def learn_from(client: redis.Redis | RedisCluster, error: redis.RedisError) -> None:
    """Report a connection_to()'s error to a cluster's client, so that it refreshes its slots."""
    if isinstance(client, ClusterClient):
        client.learn_from(error)
    elif isinstance(client, RedisCluster):
        if isinstance(error, MovedError):
            client.nodes_manager.move_slot(error)
        else:
            with suppress(redis.RedisError, RedisClusterException):  # all are down: retry later
                client.nodes_manager.initialize()
