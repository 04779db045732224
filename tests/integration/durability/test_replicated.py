"""DURABILITY=replicated: a sale that no replica has is neither confirmed nor moved to the
database.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from app.bootstrap import Services
from app.domain import Outcome, StoreAway
from app.service.purchase import Purchase
from app.store.keys import Keys
from app.store.servers import NotCopied
from app.store.sql import orders
from tests.integration.durability.conftest import Pair, pair_in, promote
from tests.support.purchases import fulfil_all
from tests.support.servers import redis_server, until

ShopOver = Callable[..., Services]


@pytest.fixture(params=["valkey", "redis"])
def either(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Pair]:
    program = redis_server() if request.param == "redis" else None

    def make() -> Pair:
        pair = pair_in(tmp_path_factory.mktemp("either"), program, "no")
        request.addfinalizer(pair.stop)
        return pair

    return make


def in_doubt(shop: Purchase, key: str) -> None:
    with pytest.raises(StoreAway) as told:
        shop.buy("apple", 1, key)
    assert told.value.key == key


def test_who_asks_again_waits_again(either: Callable[[], Pair], shop_over: ShopOver) -> None:
    """Over a connection that has written nothing, too: the sale went over another one."""
    pair = either()
    services = shop_over(pair.store)
    services.rounds.start("apple", "atomic", 10, {})
    first = services.purchase()
    assert first.buy("apple", 1, "before").sale.outcome is Outcome.SOLD
    pair.replica.freeze()
    in_doubt(first, "key")
    second = shop_over(pair.store).purchase()
    in_doubt(second, "key")
    with ThreadPoolExecutor(1) as pool:  # its earlier confirmation is not remembered
        pool.submit(in_doubt, second, "before").result(30)
    pair.replica.thaw()
    until(pair.together)
    orders = {shop.buy("apple", 1, "key").sale.order for shop in (first, second)}
    assert len(orders) == 1
    audit = services.auditor.audit(services.rounds.find("apple"))
    assert (audit.sold, audit.left) == (2, 8)
    for shop in (first, second):
        shop.reporter.stop()


def test_a_key_of_a_round_that_is_over(pair: Pair, shop_over: ShopOver) -> None:
    services = shop_over(pair.store)
    services.rounds.start("apple", "watch", 10, {})
    shop = services.purchase()
    pair.replica.freeze()
    in_doubt(shop, "key")
    for _ in range(2):  # the end is not confirmed either, however often it is asked for
        with pytest.raises(StoreAway):
            services.rounds.end("apple")
    in_doubt(shop_over(pair.store).purchase(), "key")  # a worker that has never sold in it
    pair.replica.thaw()
    until(pair.together)
    assert shop.buy("apple", 1, "key").sale.outcome is Outcome.SOLD
    shop.reporter.stop()


def test_nothing_is_booked_that_a_failover_could_take_away(pair: Pair, shop_over: ShopOver) -> None:
    services = shop_over(pair.store)
    round = services.rounds.start("apple", "atomic", 10, {})
    shop = services.purchase()
    pair.replica.freeze()
    in_doubt(shop, "key")
    stop = threading.Event()
    fulfil = threading.Thread(target=services.fulfil.run, args=(stop,))
    fulfil.start()
    try:
        until(
            lambda: services.store.xpending(Keys("apple", round.number).sales, "fulfil")["pending"]
        )
        in_doubt(shop, "key")  # a timeout of fulfil's own has passed meanwhile
        assert services.auditor.audit(round).orders == 0
        pair.replica.thaw()
        until(lambda: services.auditor.audit(round).orders == 1)
    finally:
        stop.set()
        fulfil.join(20)
        shop.reporter.stop()


def test_what_was_read_from_a_server_that_is_gone_is_not_booked(
    pair: Pair, shop_over: ShopOver
) -> None:
    """fulfil has read it, waits for a replica, and then meets a server that never had it."""
    services = shop_over(pair.store)
    round = services.rounds.start("apple", "atomic", 10, {})
    names, mover = Keys("apple", round.number), services.fulfil.consumers[0].mover
    shop = services.purchase()
    sold = shop.buy("apple", 1, "key").sale.order
    assert sold is not None
    entries: Any = services.store.xrange(names.sales)
    services.store.delete(names.sales, names.order(sold.id), names.key("key"))
    mover.move(names, entries)
    with services.servers.sessions() as session:
        assert orders.find(session, sold.id) is None
    with pytest.raises(NotCopied, match="does not know"):
        services.servers.copied("apple", names.key("key"))
    shop.reporter.stop()


def test_a_payment_waits_as_a_sale_does(pair: Pair, shop_over: ShopOver) -> None:
    services = shop_over(pair.store)
    services.rounds.start("apple", "atomic", 10, {"hold": 60_000})
    shop = services.purchase()
    order = shop.buy("apple", 1).sale.order
    assert order
    pair.replica.freeze()
    for _ in range(2):
        with pytest.raises(StoreAway):
            services.holds.pay(order)
    pair.replica.thaw()
    until(pair.together)
    services.holds.pay(order)
    shop.reporter.stop()


def test_what_sells_in_the_database_waits_for_no_replica(pair: Pair, shop_over: ShopOver) -> None:
    services = shop_over(pair.store)
    services.rounds.start("apple", "sql", 10, {})
    shop = services.purchase()
    shop.running("apple")
    pair.replica.freeze()
    assert shop.buy("apple", 1).sale.outcome is Outcome.SOLD
    shop.reporter.stop()


def test_after_a_failover_all_is_there_that_anybody_was_told(
    pair: Pair, shop_over: ShopOver
) -> None:
    services = shop_over(pair.store)
    services.rounds.start("apple", "atomic", 10, {})
    shop = services.purchase()
    told = [shop.buy("apple", 1).sale.order for _ in range(3)]
    pair.replica.freeze()
    in_doubt(shop, "untold")
    shop.reporter.stop()
    pair.store.kill()
    pair.replica.thaw()
    promote(pair.replica)
    after = shop_over(pair.replica, "safe")  # it has no replica of its own yet
    fulfil_all(after.fulfil)
    booked = [after.order_lookup.find(order.id) for order in told if order]
    assert [each.confirmed for each in booked] == [True] * 3
    assert after.consistency.look("apple") is None
