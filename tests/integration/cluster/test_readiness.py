"""/readyz on a cluster: one node that accepts nothing makes its own items fail, and is named."""

from __future__ import annotations

import redis

from app.bootstrap import Services
from app.domain import ITEMS
from app.ops.lag import lag
from app.ops.readiness import State
from app.store import keys
from app.store.clients.redis import connect
from tests.support.cluster import ClusterServer
from tests.support.purchases import mode, order

RUNS_ON = ["valkey"]


def test_a_node_without_memory_is_named_and_the_rest_sells(
    services: Services, cluster: ClusterServer
) -> None:
    node = cluster.node_of(keys.probe("apple"))
    with node.client() as client:
        client.config_set("maxmemory", "1")
        try:
            found = services.readiness.look()
        finally:
            client.config_set("maxmemory", "0")
    store = found.checks[0]
    assert (found.ready, store.state) == (True, State.UNWELL)
    named = str(store.sentence).removesuffix(".").split(": ")[1].split(", ")
    assert "apple" in named
    assert len(named) < len(ITEMS)


def test_the_lag_of_others_is_seen_while_a_node_is_frozen(
    services: Services, cluster: ClusterServer
) -> None:
    for item in ITEMS:
        round = services.rounds.start(item, "atomic", 10, {})
        mode(services, round).sell(order(round))
    impatient = connect(cluster.url, 300)
    assert waiting(impatient) == ITEMS.keys()
    node = cluster.node_of(keys.probe("apple"))
    theirs = {item for item in ITEMS if cluster.node_of(keys.probe(item)) is node}
    node.freeze()
    try:
        seen = waiting(impatient)
    finally:
        node.thaw()
        impatient.close()
    assert seen == ITEMS.keys() - theirs


def waiting(store: redis.Redis) -> set[str]:
    return {each.item for each in lag(store) if each.waiting}
