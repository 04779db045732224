"""A real cluster for the tests: three embedded Valkeys."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import redis
from redis.cluster import RedisCluster

from app.store.cluster import Cluster
from app.store.redis import connect
from tests.support.servers import StoreServer, free_port, until

SLOTS = 16_384


def all_keys(store: redis.Redis) -> list[bytes]:
    """Every key of a store, on every node if it is a cluster."""
    nodes = store.topology.every() if isinstance(store, Cluster) else {store}
    return [key for node in nodes for key in node.scan_iter()]


class ClusterServer:
    """Three Valkeys that share the slots, without replicas; `url` names all of them."""

    def __init__(self, folder: Path, appendfsync: str = "always"):
        buses = [free_port() for _ in range(3)]
        self.nodes: list[StoreServer] = []
        with ExitStack() as undo:
            undo.callback(self.stop)
            for bus in buses:
                place, more = folder / str(bus), self.member(bus)
                self.nodes.append(StoreServer(place, appendfsync=appendfsync, more=more))
            self.meet(buses)
            undo.pop_all()
        addresses = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        self.url = f"redis+cluster://{addresses}"

    def meet(self, buses: list[int]) -> None:
        """Share the slots and wait until all know it."""
        share = -(-SLOTS // 3)
        for number, node in enumerate(self.nodes):
            first, last = number * share, min((number + 1) * share, SLOTS) - 1
            with node.client() as client:
                client.execute_command("CLUSTER ADDSLOTSRANGE", first, last)
                for other, bus in zip(self.nodes, buses, strict=True):
                    client.execute_command("CLUSTER MEET", "127.0.0.1", other.port, bus)
        until(lambda: all(self.complete(node) for node in self.nodes), 30)

    @staticmethod
    def member(bus: int) -> list[str]:
        return [
            *("--cluster-enabled", "yes", "--cluster-port", str(bus)),
            *("--cluster-node-timeout", "2000"),
            # The nodes that live go on selling what is theirs.
            *("--cluster-require-full-coverage", "no"),
        ]

    @staticmethod
    def complete(node: StoreServer) -> bool:
        """Does `node` know every slot's owner, and all of them alive?"""
        with node.client() as client:
            said = client.execute_command("CLUSTER INFO")
        return bool(said["cluster_state"] == "ok" and said["cluster_slots_ok"] == str(SLOTS))

    def node_of(self, key: str) -> StoreServer:
        """Who serves a key at the moment, by its own word."""
        return next(node for node in self.nodes if self._serves(node, key))

    @staticmethod
    def _serves(node: StoreServer, key: str) -> bool:
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
        until(lambda: self._serves(target, key))  # there is a moment when none of them does

    def add_replica(self, folder: Path, of: StoreServer) -> StoreServer:
        bus = free_port()
        replica = StoreServer(folder, more=self.member(bus))
        with of.client() as primary, replica.client() as client:
            primary.execute_command("CLUSTER MEET", "127.0.0.1", replica.port, bus)
            of_id = primary.execute_command("CLUSTER MYID").decode()
            until(lambda: of_id in str(client.execute_command("CLUSTER NODES")))
            client.execute_command("CLUSTER REPLICATE", of_id)
            until(lambda: client.info("replication")["master_link_status"] == "up")
        self.nodes.append(replica)
        return replica

    def stop(self) -> None:
        for node in self.nodes:
            node.stop()


CLIENTS = ["ours", "redis-py's"]


def client_of(kind: str, cluster: ClusterServer) -> redis.Redis | RedisCluster:
    """One of the CLIENTS; it waits for a second at most."""
    if kind == "ours":
        return connect(cluster.url, 1_000)
    return RedisCluster(host="127.0.0.1", port=cluster.nodes[0].port, socket_timeout=1)
