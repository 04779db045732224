"""A client for a cluster that keeps the promises of app/store/clients/redis.py.

redis-py has a client for clusters. We build on its parts but not on it: with its retries off it
still sends a pipeline's commands again, one by one, when their replies are lost; and after an
error its threads queue for a lock while one of them asks the nodes for the topology. Here a command
goes to its key's node, once. Two answers send it to another node, MOVED and ASK: they say that
it has not run. Every other error is the caller's, at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import redis
from redis.client import Pipeline
from redis.commands.core import Script
from redis.connection import AbstractConnection
from redis.exceptions import AskError, MovedError, NoScriptError

from app.store.clients.topology import MOST_REDIRECTS, Topology

Command = tuple[tuple[Any, ...], dict[str, Any]]  # as redis-py's pipeline keeps them


class ClusterPipeline(Pipeline):
    """Pipeline for a cluster. A transaction's keys share a slot: it goes to one node.

    It uses one connection. Without MULTI the commands are shared out among their nodes, which are
    asked in turn.
    """

    def __init__(
        self,
        cluster: redis.Redis,
        topology: Topology,
        follow: Callable[..., Any],
        transaction: bool,
    ) -> None:
        """`follow` sends one command to the node that has its key, wherever that is."""
        super().__init__(cluster.connection_pool, cluster.response_callbacks, transaction, None)
        self.topology = topology
        self.follow = follow
        self.with_multi = transaction
        self.chosen = False

    def choose(self, args: Sequence[Any]) -> None:
        """Go to the node that serves this command's key, and stay there."""
        if not self.chosen:
            self.connection_pool = self.topology.serving(args).connection_pool
            self.chosen = True

    def reset(self) -> Any:
        super().reset()
        self.chosen = False

    def immediate_execute_command(self, *args: Any, **options: Any) -> Any:
        redirects = 0
        while True:
            self.choose(args)
            watching = self.watching
            try:
                return super().immediate_execute_command(*args, **options)
            except redis.RedisError as error:
                if isinstance(error, MovedError):
                    self.reset()
                self._may_go_on(error, watching, redirects)
                redirects += 1

    def execute(self, raise_on_error: bool = True) -> list[Any]:
        commands, scripts, watching = self.command_stack, self.scripts, self.watching
        if not commands:
            return super().execute(raise_on_error)
        if not (self.with_multi or self.explicit_transaction):
            return self._share_out(raise_on_error)
        redirects = 0
        while True:
            self.choose(commands[0][0])
            try:
                return super().execute(raise_on_error)
            except redis.RedisError as error:
                self._may_go_on(error, watching, redirects)
                self.command_stack, self.scripts = commands, scripts
                redirects += 1

    def _may_go_on(self, error: redis.RedisError, watching: bool, redirects: int) -> None:
        """Raise the error, unless it is MOVED: then nothing has run, not even a part of a MULTI."""
        self.topology.notice(error)
        if not isinstance(error, MovedError) or redirects == MOST_REDIRECTS:
            raise error
        if watching:
            raise redis.WatchError("What was watched has moved to another node.") from error

    def _share_out(self, raise_on_error: bool) -> list[Any]:
        """Run the commands on their nodes and return the answers, in the commands' order.

        Without `raise_on_error`, the error of a node that is away takes the places of its answers.
        """
        commands, scripts = self.command_stack, self.scripts
        self.reset()
        shares: dict[redis.Redis, list[int]] = {}
        for place, (args, _) in enumerate(commands):
            shares.setdefault(self.topology.serving(args), []).append(place)
        answers: list[Any] = [None] * len(commands)
        for node, places in shares.items():
            pipe = node.pipeline(transaction=False)
            pipe.command_stack = [commands[place] for place in places]
            pipe.scripts = set(scripts)
            try:
                replies: Iterable[Any] = pipe.execute(raise_on_error=False)
            except redis.RedisError as error:
                self.topology.notice(error)
                replies = [error] * len(places)
            for place, answer in zip(places, replies, strict=True):
                answers[place] = self._followed(commands[place], answer)
                if raise_on_error and isinstance(answers[place], redis.RedisError):
                    raise answers[place]
        return answers

    def _followed(self, command: Command, answer: Any) -> Any:
        """Resend a command that the node redirected: it has not run."""
        if not isinstance(answer, AskError):  # MovedError is one
            return answer
        self.topology.notice(answer)
        args, options = command
        try:
            return self.follow(*args, **options)
        except redis.RedisError as error:
            return error


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
