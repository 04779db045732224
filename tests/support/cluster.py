"""A real cluster for the tests: three embedded Valkeys."""

from __future__ import annotations

from pathlib import Path

import redis
from redis.cluster import RedisCluster
from servers.ports import free_port
from servers.valkey import Cluster, Valkey
from servers.waiting import until

from app.store.clients import cluster
from app.store.clients.redis import connect

MEMBER = ("--cluster-node-timeout", "2000", "--cluster-require-full-coverage", "no")


def all_keys(store: redis.Redis) -> list[bytes]:
    """Return every key of a store, on every node if it is a cluster."""
    nodes = store.topology.every() if isinstance(store, cluster.Cluster) else {store}
    return [key for node in nodes for key in node.scan_iter()]


class ClusterServer(Cluster):
    """A cluster of Valkeys whose living nodes keep selling; `url` names all of them."""

    def __init__(self, folder: Path, appendfsync: str = "always"):
        super().__init__(folder, *MEMBER, "--appendfsync", appendfsync)
        addresses = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        self.url = f"redis+cluster://{addresses}"

    def node_of(self, key: str) -> Valkey:
        """Return the node that serves the key now, by its own answer."""
        return next(node for node in self.nodes if self._serves(node, key))

    @staticmethod
    def _serves(node: Valkey, key: str) -> bool:
        with node.client() as client:
            try:
                client.exists(key)
            except redis.RedisError:
                return False
        return True

    def move(self, key: str) -> None:
        """Let another node serve the key's slot: moved in one step, as Valkey 9 can."""
        source = self.node_of(key)
        target = next(node for node in self.nodes if node is not source)
        with source.client() as old, target.client() as new:
            slot = old.execute_command("CLUSTER KEYSLOT", key)
            to = new.execute_command("CLUSTER MYID")
            old.execute_command("CLUSTER MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", to)
        until(lambda: self._serves(target, key))  # for a moment none of them does

    def add_replica(self, folder: Path, of: Valkey) -> Valkey:
        bus = free_port()
        replica = self.add(folder, bus)
        with of.client() as primary, replica.client() as client:
            primary.execute_command("CLUSTER MEET", "127.0.0.1", replica.port, bus)
            of_id = primary.execute_command("CLUSTER MYID").decode()
            until(lambda: of_id in str(client.execute_command("CLUSTER NODES")))
            client.execute_command("CLUSTER REPLICATE", of_id)
            until(lambda: client.info("replication")["master_link_status"] == "up")
        return replica


CLIENTS = ["ours", "redis-py's"]


def client_of(kind: str, server: ClusterServer) -> redis.Redis | RedisCluster:
    """Return one of the CLIENTS; it waits for a second at most."""
    if kind == "ours":
        return connect(server.url, 1_000)
    return RedisCluster(host="127.0.0.1", port=server.nodes[0].port, socket_timeout=1)
