"""A client for a cluster that keeps the promises of app/store/clients/redis.py.

redis-py has a client for clusters. We build on its parts but not on it: with its retries off it
still sends a pipeline's commands again, one by one, when their replies are lost; and after an
error its threads queue for a lock while one of them asks the nodes for the topology. Here a command
goes to its key's node, once. Two answers send it to another node, MOVED and ASK: they say that
it has not run. Every other error is the caller's, at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import redis
from redis.client import Pipeline
from redis.commands.core import Script
from redis.connection import AbstractConnection
from redis.exceptions import AskError, MovedError, NoScriptError

from app.store.clients.cluster_pipeline import ClusterPipeline
from app.store.clients.topology import MOST_REDIRECTS, Topology

TO_EVERY_NODE = {"FLUSHALL", "FLUSHDB", "SCRIPT FLUSH"}


class Cluster(redis.Redis):
    """Sends each command to the node that serves its key."""

    def __init__(self, url: str, timeout: float, client: Callable[[str], redis.Redis]) -> None:
        """`client` makes one node's client out of its URL; nodes answer within `timeout` s."""
        self.topology = Topology(url, timeout, client)
        super().__init__(connection_pool=self.topology.any_one().connection_pool)

    def execute_command(self, *args: Any, **options: Any) -> Any:
        if args[0] in TO_EVERY_NODE:
            answers = [node.execute_command(*args, **options) for node in self.topology.every()]
            return answers[0]
        node = self.topology.serving(args)
        redirects = 0
        while True:
            try:
                return node.execute_command(*args, **options)
            except redis.RedisError as error:
                self.topology.notice(error)
                if not isinstance(error, AskError) or redirects == MOST_REDIRECTS:
                    raise
                redirects += 1
                node = self.topology.node(error.host, error.port)
                if not isinstance(error, MovedError):
                    return _ask(node, *args, **options)

    def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> Pipeline:
        return ClusterPipeline(self, self.topology, self.execute_command, transaction)

    def register_script(self, script: Any) -> Script:
        return ScriptOfKeys(self, script)

    def connection_to(self, key: str, **options: Any) -> AbstractConnection:
        """Open a connection to the node that serves `key`, outside of any pool, for fairlock."""
        pool = self.topology.node_of(key).connection_pool
        connection: AbstractConnection = pool.connection_class(**pool.connection_kwargs | options)
        return connection

    def learn_from(self, error: redis.RedisError) -> None:
        """Learn from an error of such a connection where the slots are, for fairlock."""
        self.topology.notice(error)

    def close(self) -> None:
        for node in list(self.topology.clients.values()):
            node.connection_pool.disconnect()


def _ask(node: redis.Redis, *args: Any, **options: Any) -> Any:
    """Send one command to the node to which the slot is moving."""
    pipe = node.pipeline(transaction=False)
    pipe.execute_command("ASKING")
    pipe.execute_command(*args, **options)
    return pipe.execute()[1]


class ScriptOfKeys(Script):
    """A script that is loaded on the node that has its keys, by running it there.

    redis-py would load it on any one node, as it knows no key at that moment.
    """

    def __call__(self, keys: Any = None, args: Any = None, client: Any = None) -> Any:
        client = client or self.registered_client
        if isinstance(client, Pipeline):
            return super().__call__(keys, args, client)
        keys, args = tuple(keys or ()), tuple(args or ())
        try:
            return client.evalsha(self.sha, len(keys), *keys, *args)
        except NoScriptError:
            return client.eval(self.script, len(keys), *keys, *args)
