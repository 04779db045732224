"""Connections for a lock, from any kind of client, to the right server.

redis-py's two kinds of clients are known here. Another client of a cluster, with a topology of its
own, brings the two methods of `ClusterClient`.
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
        """A new connection to the server of `key`; `options` override the client's own."""
        ...

    def learn_from(self, error: redis.RedisError) -> None:
        """Handle the error of such a connection: MOVED, or a server that is away."""
        ...


def is_cluster(client: redis.Redis | RedisCluster) -> bool:
    """Do its keys live on several servers?"""
    return isinstance(client, RedisCluster | ClusterClient)


def connection_to(
    client: redis.Redis | RedisCluster, key: str, **options: Any
) -> AbstractConnection:
    """A connection of one's own to the server of `key`; the caller connects and closes it.

    Of the kind that `client` uses, but not from its pool: for who waits on it for longer than a
    command takes, as a subscriber does. Should the key's slot have moved, the server answers MOVED,
    or no more at all: let `client` learn_from() it and ask again.
    """
    if isinstance(client, ClusterClient):
        return client.connection_to(key, **options)
    if isinstance(client, RedisCluster):
        client = client.get_redis_connection(client.get_node_from_key(key))
    pool = client.connection_pool
    connection: AbstractConnection = pool.connection_class(**pool.connection_kwargs | options)
    return connection


def learn_from(client: redis.Redis | RedisCluster, error: redis.RedisError) -> None:
    """Tell a cluster's client what a connection_to() met with: it may look where the slots are."""
    if isinstance(client, ClusterClient):
        client.learn_from(error)
    elif isinstance(client, RedisCluster):
        if isinstance(error, MovedError):
            client.nodes_manager.move_slot(error)
        else:
            with suppress(redis.RedisError, RedisClusterException):  # all are away: ask later
                client.nodes_manager.initialize()
