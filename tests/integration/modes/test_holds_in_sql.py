"""A hold in the database survives whatever the store forgets."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import delete, update

from app.bootstrap import Services
from app.domain import HoldOver, Order, Outcome, Round, Stands, StoreAway
from app.modes import Way
from app.service.purchase import Purchase
from app.store.sql.begun_rounds import RoundRow
from app.store.sql.holds import HoldRow
from tests.support.holds import LONG, counted
from tests.support.purchases import ON_DATABASES

RUNS_ON = ["valkey"]

pytestmark = [
    pytest.mark.usefixtures("database_url"),
    pytest.mark.parametrize(
        ("name", "database_url"),
        [on for on in ON_DATABASES if Way.of(on[0]).in_database],
        indirect=["database_url"],
    ),
]


@pytest.fixture
def shop(services: Services, worker: Callable[[], Purchase], name: str) -> Purchase:
    services.rounds.start("apple", name, 10, {"hold": LONG})
    return worker()


@pytest.fixture
def round(services: Services, shop: Purchase) -> Round:
    return services.rounds.find("apple")


def held(shop: Purchase, quantity: int) -> Order:
    order = shop.buy("apple", quantity).sale.order
    assert order is not None
    return order


def run_out(services: Services, *orders: Order) -> None:
    with services.servers.sessions.begin() as sql:
        ids = [order.id for order in orders]
        sql.execute(update(HoldRow).where(HoldRow.id.in_(ids)).values(until=1))


def test_it_is_paid_for(services: Services, shop: Purchase, round: Round) -> None:
    order = held(shop, 3)
    services.store.flushall()
    services.holds.pay(order)
    assert services.order_lookup.find(order.id).confirmed
    assert counted(services, round) == (7, 0, 3)


def test_it_runs_out(services: Services, shop: Purchase, round: Round) -> None:
    first, second = held(shop, 3), held(shop, 2)
    services.store.flushall()
    run_out(services, first, second)
    with pytest.raises(HoldOver):
        services.holds.pay(first)
    services.sweep.sweep()
    assert counted(services, round) == (10, 0, 0)


def test_its_key_is_not_told_sold_when_the_loss_is_accepted(
    services: Services, shop: Purchase, worker: Callable[[], Purchase], round: Round
) -> None:
    order = shop.buy("apple", 3, "k").sale.order
    assert order is not None
    services.store.flushall()
    assert services.rounds.consistency.look("apple")
    services.rounds.consistency.accept("apple")
    services.rounds.start("apple", "atomic", 5, {})
    again = worker().buy("apple", 3, "k")
    assert (again.sale.outcome, again.sale.order, again.round.number) == (Outcome.HELD, order, 1)
    run_out(services, order)
    with pytest.raises(HoldOver):
        worker().buy("apple", 3, "k")


def test_of_a_round_that_nobody_knows_it_is_not_said_to_be_paid(
    services: Services, shop: Purchase, round: Round
) -> None:
    """The ledger has no round that began while it was away."""
    lost = held(shop, 3)
    services.rounds.start("pear", round.mode, 5, {"hold": LONG})
    other = shop.buy("pear", 2).sale.order
    assert other is not None
    services.store.flushall()
    with services.servers.sessions.begin() as sql:
        sql.execute(delete(RoundRow).where(RoundRow.item == "apple"))
    with pytest.raises(StoreAway, match="has lost round 1 of apple"):
        services.holds.pay(lost)
    with pytest.raises(StoreAway, match="has lost round 1 of apple"):
        services.holds.give_up(lost, Stands.CANCELLED)
    run_out(services, lost, other)
    assert services.sweep.sweep() == 1, "the others' come back"
