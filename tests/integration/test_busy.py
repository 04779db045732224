"""A repeated purchase of a key that has bought gets its order, also where its mode answers BUSY."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import pytest

from app.bootstrap import Services
from app.domain import Outcome, Round
from app.locks.handle import Handle
from app.modes import LockingMode, Way
from app.service.purchase import Purchase
from app.store.keys import Keys
from tests.support.purchases import IN_DATABASE, ON_DATABASES, SOUND, HandClock, Once, mode, order
from tests.support.servers import until
from tests.support.sql_hooks import held

pytestmark = pytest.mark.usefixtures("database_url")
RUNS_ON = ["valkey"]  # the contracts of the modes test each mode on each store
MakeWorker = Callable[[], Purchase]
WITH_A_LOCK = [(name, "sqlite") for name in SOUND if issubclass(Way.of(name).mode, LockingMode)]
SQL = [(name, url) for name, url in ON_DATABASES if name in IN_DATABASE]
SQL = [(name, url) for name, url in SQL if (name, url) != ("sql_units", "sqlite")]


def on(pairs: list[tuple[str, str]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("name", "database_url"), pairs, indirect=["database_url"])


def round_lock(services: Services, round: Round) -> Handle:
    seller = mode(services, round)
    assert isinstance(seller, LockingMode)
    return seller.lock()


def busy_for_all_but(shop: Purchase, key: str) -> None:
    """Check that a new key gets BUSY, and `key` its order of two apples."""
    assert shop.buy("apple", 2, key="new").sale.outcome is Outcome.BUSY
    again = shop.buy("apple", 2, key=key)
    assert again.sale.outcome is Outcome.SOLD
    assert again.sale.order
    assert again.sale.order.key == key


@on(WITH_A_LOCK)
def test_while_another_client_holds_the_lock(
    services: Services, worker: MakeWorker, name: str
) -> None:
    round = services.rounds.start("apple", name, 10, {"wait": 0})
    shop = worker()
    shop.buy("apple", 2, key="k")
    lock = round_lock(services, round)
    assert lock.acquire(wait_s=10)
    try:
        busy_for_all_but(shop, "k")
    finally:
        lock.release()
    assert services.rounds.left(round) == 8


@on([("decr", "sqlite")])
def test_while_the_key_is_claimed(services: Services, worker: MakeWorker, name: str) -> None:
    round = services.rounds.start("apple", name, 10, {"wait": 0})
    shop = worker()
    shop.buy("apple", 2, key="k")
    for key in ("k", "new"):
        services.store.set(Keys.of(round).claim(key), "another", px=60_000)
    busy_for_all_but(shop, "k")


@on([(name, url) for name, url in SQL if name in ("sql", "sql_lock")])
def test_while_another_transaction_holds_the_row(
    services: Services, worker: MakeWorker, name: str
) -> None:
    round = services.rounds.start("apple", name, 10, {"wait": 50})
    shop = worker()
    shop.buy("apple", 2, key="k")
    with held(services, round):
        busy_for_all_but(shop, "k")


@on(SQL)
def test_while_all_connections_for_selling_are_taken(
    services: Services, worker: MakeWorker, name: str
) -> None:
    services.rounds.start("apple", name, 10, {"wait": 0})
    shop = worker()
    shop.buy("apple", 2, key="k")
    free = services.servers.transactions.free
    with ExitStack() as taken:
        while free.acquire(blocking=False):
            taken.callback(free.release)
        busy_for_all_but(shop, "k")


@on([(name, "sqlite") for name in ("watch", "sql_version")])
def test_when_the_key_buys_after_the_look_of_the_mode(
    services: Services, worker: MakeWorker, name: str
) -> None:
    """The repeated press loses its race to the first one, and may not try again."""
    round = services.rounds.start("apple", name, 10, {"think": 1, "attempts": 1})
    shop = worker()
    shop.running("apple")
    first = Once(lambda: mode(services, round).sell(order(round, 2, key="k")))
    shop.running_rounds.selling["apple"].mode.clock = HandClock(first)
    sale = shop.buy("apple", 2, key="k").sale
    assert (sale.outcome, sale.order and sale.order.key) == (Outcome.SOLD, "k")
    assert services.rounds.left(round) == 8


@on([("lock:lease", "sqlite")])
def test_such_a_repeat_is_not_counted_as_busy(
    services: Services, worker: MakeWorker, name: str
) -> None:
    round = services.rounds.start("apple", name, 10, {"wait": 0})
    shop = worker()
    shop.buy("apple", 2, key="k")
    with round_lock(services, round):
        shop.buy("apple", 2, key="k")
    until(lambda: services.auditor.audit(round).answers["SOLD"] == 2)
    assert services.auditor.audit(round).answers["BUSY"] == 0
