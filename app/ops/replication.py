"""Check whether a replica can confirm the store's writes: DURABILITY=replicated needs that."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import redis

from app.store.clients.cluster import Cluster
from app.text import Text

# In INFO only if min-replicas-to-write is 1 or more: the number of replicas heard lately.
LISTENING = "min_slaves_good_slaves"

log = logging.getLogger(__name__)


def unconfirmed(store: redis.Redis) -> list[Text]:
    """Return a sentence for each primary that takes, or may take, what no replica confirms.

    Each node is asked once, whatever number of items it has.
    """
    try:
        nodes = store.topology.every() if isinstance(store, Cluster) else [store]
        replicas = [(address(node), _of_node(node)) for node in nodes]
    except redis.RedisError as error:
        log.warning("Which nodes have replicas cannot be seen: %s", error)
        return [Text("The store does not say whether it has replicas.")]
    if len(replicas) == 1:
        return [why for _, why in replicas if why]
    return [Text("%(node)s: %(why)s", node=node, why=why) for node, why in sorted(replicas) if why]


def _of_node(node: redis.Redis) -> Text | None:
    try:
        return lacking(node.info("replication"))
    except redis.RedisError as error:
        log.warning("%s does not say whether it has replicas: %s", address(node), error)
        return Text("It does not say whether it has replicas.")


def lacking(info: Mapping[str, Any]) -> Text | None:
    """Return what a primary lacks to have each sale confirmed; `info` is its INFO replication."""
    replicas = [each for each in info.values() if isinstance(each, dict)]
    online = sum(each.get("state") == "online" for each in replicas)
    if not info.get(LISTENING, online):
        return Text(
            "DURABILITY=replicated needs a replica, and it has none: every purchase would end in "
            "doubt. Attach one (REPLICAOF), or set DURABILITY=safe."
        )
    if LISTENING not in info:
        return Text(
            "min-replicas-to-write is 0, so it sells on when no replica can confirm a sale. Set "
            "min-replicas-to-write 1."
        )
    return None


def address(node: redis.Redis) -> str:
    given = node.connection_pool.connection_kwargs
    return f"{given.get('host', '')}:{given.get('port', '')}"
