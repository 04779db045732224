"""The topology of a cluster: the node that serves each slot, as last learnt."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import redis
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot
from redis.exceptions import ClusterDownError, MovedError

from app.checks import split_cluster

MOST_REDIRECTS = 5  # of one command, before we report that the cluster redirects in circles
BETWEEN_LOOKS = 0.1  # s: purchases that fail by the hundred must not ask by the hundred
TO_ANY_NODE = {"CONFIG GET", "INFO", "PING", "TIME"}
WENT_AWAY = (redis.ConnectionError, redis.TimeoutError, ClusterDownError)

Address = tuple[str, int]


def key_of(args: Sequence[Any]) -> Any:
    """Return the key that decides where a command goes; None: any node will do.

    Most commands have it as the first argument. Where that guess is wrong, the node says MOVED.
    """
    if args[0] in TO_ANY_NODE or len(args) < 2:
        return None
    if args[0] in ("EVAL", "EVALSHA"):
        return args[3] if int(args[2]) else None
    if args[0] in ("XREAD", "XREADGROUP"):
        return args[args.index(b"STREAMS") + 1]
    if args[0] == "SCAN":  # a pattern with a hash tag finds keys of that slot only
        return args[args.index(b"MATCH") + 1] if b"MATCH" in args else None
    return args[1]


class Topology:
    """The nodes' clients, and the owner of each slot among them.

    The nodes are asked when the topology is first needed. After that no caller waits for it: an
    error starts a thread that asks again, while all others use the last answer.
    """

    def __init__(self, url: str, timeout: float, client: Callable[[str], redis.Redis]) -> None:
        """`url` as in the settings; `client` makes one node's client out of its URL.

        A node answers within `timeout` s.
        """
        before, nodes, self.after = split_cluster(url)
        self.before = before.replace("+cluster://", "://", 1)
        self.timeout = timeout
        self.client = client
        self.clients: dict[Address, redis.Redis] = {}
        self.owners: list[redis.Redis | None] = []  # by slot; empty: not asked yet
        self.known = [_address(node) for node in nodes]  # the node that failed last is last
        self.making = threading.Lock()
        self.looking = threading.Lock()

    def node(self, host: str, port: int) -> redis.Redis:
        """Return that node's client, made at the first call."""
        with self.making:
            if (host, port) not in self.clients:
                bracketed = f"[{host}]" if ":" in host else host
                url = f"{self.before}{bracketed}:{port}{self.after}"
                self.clients[host, port] = self.client(url)
            return self.clients[host, port]

    def any_one(self) -> redis.Redis:
        """Return the client of some node, for a question that any node can answer."""
        return self.node(*self.known[0])

    def every(self) -> set[redis.Redis]:
        """Return the clients of all nodes that serve slots."""
        return {owner for owner in self.owners or self.look() if owner}

    def serving(self, args: Sequence[Any]) -> redis.Redis:
        """Return the client of the node that serves a command's key."""
        return self.node_of(key_of(args))

    def node_of(self, key: Any) -> redis.Redis:
        """Return the client of the node that serves `key`, or of any node for None.

        If no node serves the key, any node is returned: it answers with that error.
        """
        owners = self.owners or self.look()
        if key is None:
            return self.any_one()
        return owners[key_slot(key.encode() if isinstance(key, str) else key)] or self.any_one()

    def notice(self, error: redis.RedisError) -> None:
        """Learn from an error where a slot is, or that it is time to look."""
        if isinstance(error, MovedError):
            self.owners[error.slot_id] = self.node(error.host, error.port)
        # redis-py tells a connection lost after WATCH as a WatchError.
        elif any(isinstance(each, WENT_AWAY) for each in (error, error.__context__)):
            self.look_soon()

    def look_soon(self) -> None:
        if self.looking.acquire(blocking=False):
            threading.Thread(target=self.look_again, name="topology", daemon=True).start()

    def look_again(self) -> None:
        try:
            self.look()
        except redis.RedisError:
            pass  # the next command that fails has us look again
        finally:
            time.sleep(BETWEEN_LOOKS)
            self.looking.release()

    def look(self) -> list[redis.Redis | None]:
        """Ask one node after another which node serves which slots, until one answers.

        Raises the last node's error after `timeout` s, even if some have not been asked yet: those
        come first the next time.
        """
        give_up = time.monotonic() + self.timeout
        for address in list(self.known):
            try:
                slots = self.node(*address).execute_command("CLUSTER SLOTS")
                if not slots:  # the node has left the cluster, or never was in it
                    raise ClusterDownError(f"{address[0]}:{address[1]} knows no node with slots.")
                break
            except redis.RedisError as error:
                self.known = [*(other for other in self.known if other != address), address]
                failure = error
                if time.monotonic() >= give_up:
                    raise
        else:
            raise failure
        owners: list[redis.Redis | None] = [None] * REDIS_CLUSTER_HASH_SLOTS
        for first, last, (name, port, *_), *_replicas in slots:
            # A node that does not know its own name means the one that we asked.
            owner = (name.decode() if name else address[0], port)
            owners[first : last + 1] = [self.node(*owner)] * (last + 1 - first)
            if owner not in self.known:
                self.known = [*self.known, owner]
        self.owners = owners
        return owners


def _address(node: str) -> Address:
    parts = urlsplit(f"//{node}")
    return parts.hostname or "127.0.0.1", parts.port or 6379
