"""Slots go to another node while their items are sold: no sale is lost, none is doubled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from redis.exceptions import AskError, MovedError, TryAgainError

from app.bootstrap import Services
from app.domain import Outcome, StoreAway
from app.service.purchase import Purchase
from app.store.clients.redis import Wire, connect, metered
from app.store.clients.topology import MOST_REDIRECTS
from tests.support.cluster import ClusterServer
from tests.support.purchases import (
    IN_DATABASE,
    SOUND,
    HandClock,
    Once,
    fulfil_all,
    in_stream,
    mode,
    order,
)


@pytest.mark.parametrize("name", [name for name in SOUND if name not in IN_DATABASE])
def test_the_next_sale_follows_the_slot(
    services: Services, cluster: ClusterServer, name: str
) -> None:
    """MOVED for a script, a MULTI or a WATCH: it has not run, and goes to the new node."""
    round = services.rounds.start("apple", name, 10, {})
    seller = mode(services, round)
    assert seller.sell(order(round)).outcome is Outcome.SOLD
    cluster.move("{apple}")
    sale = seller.sell(order(round))
    assert (sale.outcome, sale.left, sale.conflicts) == (Outcome.SOLD, 8, 0)
    assert len(in_stream(services, round)) == 2


def test_a_slot_that_goes_while_it_is_watched_is_a_conflict(
    services: Services, cluster: ClusterServer
) -> None:
    """The EXEC reaches a node that does not serve the keys any more: all of it is refused."""
    round = services.rounds.start("apple", "watch", 10, {})
    seller = mode(services, round, HandClock(Once(lambda: cluster.move("{apple}"))))
    sale = seller.sell(order(round))
    assert (sale.outcome, sale.left, sale.attempts, sale.conflicts) == (Outcome.SOLD, 9, 2, 1)
    assert len(in_stream(services, round)) == 1


def test_a_lock_goes_with_its_slot(services: Services, cluster: ClusterServer) -> None:
    """The slot moves between GET and MULTI, with the lock: the sale and the release follow."""
    round = services.rounds.start("apple", "lock:lease", 10, {})
    seller = mode(services, round, HandClock(Once(lambda: cluster.move("{apple}"))))
    sale = seller.sell(order(round))
    assert (sale.outcome, sale.left, sale.lock_lost) == (Outcome.SOLD, 9, False)


def test_a_pipeline_sends_on_only_what_was_refused(
    services: Services, cluster: ClusterServer
) -> None:
    pipe = services.store.pipeline(transaction=False)
    for _ in range(2):
        pipe.incr("{apple}:n")
        pipe.incr("{quince}:n")
    assert pipe.execute() == [1, 1, 2, 2]
    cluster.move("{apple}")
    for _ in range(2):
        pipe.incr("{apple}:n")
        pipe.incr("{quince}:n")
    assert pipe.execute() == [3, 3, 4, 4]


def test_a_slot_moves_to_and_fro_while_a_crowd_buys(
    services: Services, worker: Callable[[], Purchase], cluster: ClusterServer
) -> None:
    round = services.rounds.start("apple", "atomic", 100_000, {})
    shop = worker()
    stop = threading.Event()

    def buy() -> list[str]:
        """Buy until the test stops it, and retry a 503 with its key. Return the orders' ids."""
        ids = []
        number = 0
        while not stop.is_set():
            number += 1
            key = f"{threading.get_ident()}-{number}"
            while True:
                try:
                    sale = shop.buy("apple", 1, key=key).sale
                    break
                except StoreAway:
                    continue
            assert sale.order is not None
            ids.append(sale.order.id)
        return ids

    with ThreadPoolExecutor(4) as pool:
        buyers = [pool.submit(buy) for _ in range(4)]
        for _ in range(4):
            cluster.move("{apple}")
        stop.set()
        ids = [id for buyer in buyers for id in buyer.result(30)]
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(round)
    assert audit.verdict == "exact", audit
    assert audit.sold == len(ids) == len(set(ids)) > 50


def test_a_slot_that_moves_key_by_key(services: Services, cluster: ClusterServer) -> None:
    """Half of an item's keys here, half there: commands on both are refused, none runs twice."""
    round = services.rounds.start("apple", "atomic", 10, {})
    seller = mode(services, round)
    seller.sell(order(round))
    source = cluster.node_of("{apple}")
    target = next(node for node in cluster.nodes if node is not source)
    with source.client() as old, target.client() as new:
        slot = old.execute_command("CLUSTER KEYSLOT", "{apple}")
        here, there = (client.execute_command("CLUSTER MYID") for client in (old, new))
        new.execute_command("CLUSTER SETSLOT", slot, "IMPORTING", here)
        old.execute_command("CLUSTER SETSLOT", slot, "MIGRATING", there)
        for _ in range(2):
            names = old.execute_command("CLUSTER GETKEYSINSLOT", slot, 100)
            with pytest.raises(TryAgainError):
                seller.sell(order(round))
            for name in names:
                old.execute_command("MIGRATE", "127.0.0.1", target.port, name, 0, 5000)
        # A command with a single key is redirected (ASK) to the node that has the key, or will have
        # it.
        stock = f"{{apple}}:{round.number}:stock"
        assert services.store.get(stock) == b"9"
        pipe = services.store.pipeline(transaction=False)
        pipe.get(stock)
        assert pipe.execute() == [b"9"]
        whole = services.store.pipeline()
        whole.get(stock)
        with pytest.raises(AskError):  # a server takes no ASKING within a MULTI
            whole.execute()
        for client in (new, old):
            client.execute_command("CLUSTER SETSLOT", slot, "NODE", there)
    assert seller.sell(order(round)).left == 8
    fulfil_all(services.fulfil)
    assert services.auditor.audit(round).verdict == "exact"


@pytest.mark.parametrize("transaction", [None, False, True])
def test_circles_come_to_an_end(cluster: ClusterServer, transaction: bool | None) -> None:
    """Two nodes that each redirect to the other: an error after so many trips, not a loop."""
    client = connect(cluster.url, 1_000)
    client.flushall()
    first = cluster.node_of("{fig}")
    second = next(node for node in cluster.nodes if node is not first)
    wire = Wire()
    ask: Callable[[], object] = partial(client.get, "{fig}")
    if transaction is not None:
        pipe = client.pipeline(transaction)
        pipe.get("{fig}")
        ask = pipe.execute
    with first.client() as one, second.client() as two:
        slot = one.execute_command("CLUSTER KEYSLOT", "{fig}")
        mine, yours = (each.execute_command("CLUSTER MYID") for each in (one, two))
        one.execute_command("CLUSTER SETSLOT", slot, "NODE", yours)
        two.execute_command("CLUSTER SETSLOT", slot, "NODE", mine)
        with pytest.raises(MovedError), metered(wire):
            ask()
        for each in (one, two):
            each.execute_command("CLUSTER SETSLOT", slot, "NODE", mine)
    assert MOST_REDIRECTS < wire.round_trips <= MOST_REDIRECTS + 3
    assert client.get("{fig}") is None
    client.close()
