"""Compare how a store keeps its data with DURABILITY: one check for each thing that matters.

Run at the start and by `lastapple check`; each sentence says what it means, and what to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import redis

from app.ops import replication
from app.ops.readiness import Check, State
from app.store.clients.cluster import Cluster
from app.store.clients.redis import answering
from app.store.servers import Servers

OLDEST = 7  # of Redis; every Valkey is newer
ENOUGH = {"fast": ("always", "everysec"), "safe": ("always",), "replicated": ("always",)}

Info = Mapping[str, Any]  # what INFO says


def look(servers: Servers) -> list[Check]:
    """Return the checks of each server: version, eviction, log, replicas.

    On a cluster, of each server that has slots. Raises StoreAway.
    """
    store = servers.store
    with answering():
        nodes = store.topology.every() if isinstance(store, Cluster) else [store]
        nodes_checks = [
            (replication.address(node), _checks(node, servers.settings.durability))
            for node in nodes
        ]
    if len(nodes_checks) == 1:
        return nodes_checks[0][1]
    return [
        Check(each.name, each.state, f"{address}: {each.sentence}")
        for address, checks in sorted(nodes_checks)
        for each in checks
    ]


def _checks(node: redis.Redis, durability: str) -> list[Check]:
    server: Info = node.info()
    return [
        version(server),
        _eviction(server),
        _log(server, _appendfsync(node), durability),
        _replicas(server, durability),
    ]


def version(info: Info) -> Check:
    if "valkey_version" in info:
        return Check("store version", State.OK, f"Valkey {info['valkey_version']}.")
    version = str(info["redis_version"])
    if int(version.partition(".")[0]) >= OLDEST:
        return Check("store version", State.OK, f"Redis {version}.")
    sentence = (
        f"Redis {version}: we need {OLDEST} or newer, as sales could not be booked. Upgrade it."
    )
    return Check("store version", State.FAILING, sentence)


def _eviction(info: Info) -> Check:
    policy = str(info.get("maxmemory_policy", "unknown"))
    if policy == "noeviction":
        sentence = "noeviction: when its memory is full it refuses sales, and forgets none."
        return Check("store eviction", State.OK, sentence)
    sentence = (
        f"maxmemory-policy is {policy}: when its memory is full it forgets stock and sales "
        "that customers were told of. Set maxmemory-policy noeviction."
    )
    if policy.startswith("volatile"):
        sentence = (
            f"maxmemory-policy is {policy}: when its memory is full it forgets which keys have "
            "bought, and asking again may sell twice. Set maxmemory-policy noeviction."
        )
    return Check("store eviction", State.UNWELL, sentence)


def _log(info: Info, appendfsync: str, durability: str) -> Check:
    if not info.get("aof_enabled"):
        sentence = (
            "It keeps no log (appendonly no): a restart forgets sales that customers were told of, "
            "and the shop stops then. Set appendonly yes, appendfsync always."
        )
        return Check("store log", State.UNWELL, sentence)
    if appendfsync == "unknown":
        sentence = "It may not be asked when it writes its log to disk: see to appendfsync always."
        return Check("store log", State.UNWELL, sentence)
    if appendfsync in ENOUGH[durability]:
        lost = "nothing" if appendfsync == "always" else "a second or two of sales"
        sentence = f"appendfsync {appendfsync}: a crash of its machine loses {lost}."
        return Check("store log", State.OK, sentence)
    lost = "a second or two" if appendfsync == "everysec" else "half a minute"
    sentence = (
        f"appendfsync is {appendfsync}: a crash of its machine loses {lost} of sales, and "
        f"DURABILITY is {durability}. Set appendfsync {ENOUGH[durability][-1]}."
    )
    return Check("store log", State.UNWELL, sentence)


def _replicas(info: Info, durability: str) -> Check:
    if info["role"] != "master":
        sentence = "It is a replica, which takes no sale. Let REDIS_URL lead to its master."
        return Check("store replicas", State.FAILING, sentence)
    count = int(info["connected_slaves"])
    if durability == "replicated" and (why := replication.lacking(info)):
        return Check("store replicas", State.FAILING, why)
    if durability == "replicated":
        sentence = f"{count}: each sale is in one of them before its buyer is told."
        return Check("store replicas", State.OK, sentence)
    if count:
        sentence = (
            f"{count}, and DURABILITY={durability} waits for none: a failover forgets sales of "
            "which customers were told. Set DURABILITY=replicated."
        )
        return Check("store replicas", State.UNWELL, sentence)
    sentence = "None: with its disk all goes that is not booked. DURABILITY=replicated wants one."
    return Check("store replicas", State.OK, sentence)


def _appendfsync(node: redis.Redis) -> str:
    """Return always, everysec or no; unknown where a hosted store forbids CONFIG."""
    try:
        (value,) = node.config_get("appendfsync").values()
    except redis.ResponseError:
        return "unknown"
    return value.decode() if isinstance(value, bytes) else str(value)
