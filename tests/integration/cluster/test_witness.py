"""A worker asks each cluster node after a reconnect for the sales of its own items."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.bootstrap import Services
from app.domain import NotOnSale, Outcome, StoreAway
from app.service.purchase import Purchase
from app.store import loss_marks
from app.store.clients.cluster import Cluster
from app.store.keys import Keys
from tests.support.cluster import ClusterServer

RUNS_ON = ["valkey"]


def test_a_node_that_lost_a_sale_costs_its_item_and_no_other(
    services: Services, cluster: ClusterServer, worker: Callable[[], Purchase]
) -> None:
    others = [item for item in ("pear", "plum", "quince") if elsewhere(cluster, item)]
    shop = worker()
    for item in ("apple", *others):
        services.rounds.start(item, "atomic", 10, {})
        made = shop.buy(item, 1, key=f"{item}-1")
        assert made.sale.outcome is Outcome.SOLD
    services.store.delete(Keys("apple", 1).key("apple-1"))
    assert isinstance(services.store, Cluster)
    services.store.close()  # so that the worker reconnects to the nodes
    with pytest.raises((StoreAway, NotOnSale)):
        shop.buy("apple", 1)
    for item in others:
        assert shop.buy(item, 1).sale.outcome is Outcome.SOLD
    with pytest.raises(NotOnSale):
        shop.buy("apple", 1)
    assert [lack.item for lack in loss_marks.every(services.store, ["apple", *others])] == ["apple"]
    assert others


def elsewhere(cluster: ClusterServer, item: str) -> bool:
    return cluster.node_of(Keys(item, 1).stock) is not cluster.node_of(Keys("apple", 1).stock)
