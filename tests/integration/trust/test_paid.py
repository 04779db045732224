"""A payment in the ledger stays paid, even if the store has lost it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from app.domain import Lack, NotOnSale, Order, Stands, StoreAway
from app.store import loss_marks
from app.store.keys import Keys
from tests.integration.trust.sellers import bought, killed, lastapple, opened
from tests.support.data_loss import cut, length, restarted
from tests.support.purchases import fulfil_all
from tests.support.servers import StoreServer

HOLD = 2_000  # ms
KEY = {"Idempotency-Key": "k"}


def booked_and_lost(services: Services, server: StoreServer, hold: int) -> Order:
    """Put an order into the ledger, and a hold into the store."""
    worker = opened(services, hold=hold)
    order = bought(worker, "k")
    end = length(server.folder)
    services.holds.pay(order)
    fulfil_all(services.fulfil)
    killed(services, worker)
    restarted(server, lambda: cut(server.folder, end))
    return order


def found_lacking(services: Services) -> Lack:
    lack = services.rounds.consistency.look("apple")
    assert lack
    return lack


def bought_again(settings: Settings) -> Any:
    return create_shop(settings).test_client().post("/buy/apple", json={"quantity": 1}, headers=KEY)


def stands_as_sold(services: Services, settings: Settings, order: Order) -> None:
    again = bought_again(settings)
    assert (again.status_code, again.json["outcome"]) == (201, "SOLD")
    assert again.json["order"] == order.id
    assert services.order_lookup.find(order.id).confirmed
    shop = create_shop(settings).test_client()
    assert shop.post(f"/orders/{order.id}/pay", json={}).status_code == 201
    assert shop.post(f"/orders/{order.id}/cancel", json={}).status_code == 409
    services.sweep.sweep()
    round = services.rounds.find("apple", 1)
    audit = services.auditor.audit(round)
    assert (audit.sold, audit.held, audit.orders) == (1, 0, 1)


def test_the_sweep_leaves_what_is_held_of_a_store_that_lacks_something(
    services: Services, server: StoreServer, settings: Settings
) -> None:
    order = booked_and_lost(services, server, HOLD)
    found_lacking(services)
    time.sleep(HOLD / 1000 + 0.1)
    assert services.sweep.sweep() == 0
    assert bought_again(settings).status_code == 503, "nobody says that it is over"
    assert lastapple(services, "audit", "apple", "--repair", "--yes").exit_code == 0
    stands_as_sold(services, settings, order)
    assert services.rounds.left(services.rounds.find("apple", 1)) == 9


@pytest.mark.parametrize("what", ["pay", "cancel", "decline"])
def test_it_cannot_be_settled_until_it_is_mended(
    services: Services, server: StoreServer, settings: Settings, what: str
) -> None:
    order = booked_and_lost(services, server, 60_000)
    found_lacking(services)
    shop = create_shop(settings).test_client()
    assert shop.post(f"/orders/{order.id}/{what}", json={}).status_code == 503
    assert lastapple(services, "audit", "apple", "--repair", "--yes").exit_code == 0
    stands_as_sold(services, settings, order)


def expired(services: Services, order: Order) -> None:
    time.sleep(HOLD / 1000 + 0.1)
    assert services.sweep.sweep() == 1


def cancelled(services: Services, order: Order) -> None:
    services.holds.give_up(order, Stands.CANCELLED)


def looked_at(services: Services, order: Order) -> None:
    hold = services.holds.look(order)
    assert hold
    assert hold.stands is Stands.HELD


def untouched(services: Services, order: Order) -> None:
    """Check that it waits in the stream: its worker died before processing it."""
    names = Keys("apple", 1)
    assert services.store.hdel(names.held, order.id) == 1
    services.store.zrem(names.due, order.id)
    services.store.xadd(names.holds, {"sale": order.encode()})


@pytest.mark.parametrize("how", ["--repair", "--accept"])
@pytest.mark.parametrize("first", [expired, cancelled, looked_at, untouched])
def test_the_books_are_right_about_what_came_before_the_loss_was_found(
    services: Services,
    server: StoreServer,
    settings: Settings,
    first: Callable[[Services, Order], None],
    how: str,
) -> None:
    order = booked_and_lost(services, server, HOLD if first is expired else 60_000)
    first(services, order)
    found_lacking(services)
    words = [how, "--yes"] if how == "--repair" else [how]
    assert lastapple(services, "audit", "apple", *words).exit_code == 0
    stands_as_sold(services, settings, order)
    if how == "--repair":
        assert services.rounds.left(services.rounds.find("apple", 1)) == 9


def test_what_nobody_has_paid_for_is_held_on_when_it_is_mended(
    services: Services, server: StoreServer
) -> None:
    worker = opened(services, hold=60_000)
    paid, other = bought(worker, "k"), bought(worker, "other")
    end = length(server.folder)
    services.holds.pay(paid)
    fulfil_all(services.fulfil)
    killed(services, worker)
    restarted(server, lambda: cut(server.folder, end))
    found_lacking(services)
    with pytest.raises(StoreAway, match="mended"):
        services.holds.pay(other)
    assert lastapple(services, "audit", "apple", "--repair", "--yes").exit_code == 0
    services.holds.pay(other)
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(services.rounds.find("apple", 1))
    assert (audit.sold, audit.held, audit.orders, audit.left) == (2, 0, 2, 8)


@pytest.mark.parametrize("lost", ["the payment", "the hold, too"])
def test_a_payment_that_only_a_worker_knows_comes_back(
    services: Services, server: StoreServer, settings: Settings, lost: str
) -> None:
    """A payment that was confirmed, and not moved yet; an order that was only held is named."""
    worker = opened(services, hold=60_000)
    ends = [length(server.folder)]
    order = bought(worker, "k")
    ends.append(length(server.folder))
    unpaid = bought(worker, "unpaid")
    services.holds.pay(order)
    end = ends[lost == "the payment"]
    restarted(server, lambda: cut(server.folder, end))
    with pytest.raises((StoreAway, NotOnSale)):
        bought(worker, "x")
    assert loss_marks.look(services.store, "apple").lack
    killed(services, worker)
    done = lastapple(services, "audit", "apple", "--repair", "--yes", "--json")
    found = json.loads(done.stdout)
    (round,) = found["rounds"]
    assert (round["sold"], round["held"], round["left"]) == (1, 0, 9)
    assert (round["brought_back"], found["lost"]) == ([order.id], [unpaid.id])
    fulfil_all(services.fulfil)
    stands_as_sold(services, settings, order)


@pytest.mark.parametrize("first", [expired, cancelled])
def test_a_payment_whose_hold_was_given_back_before_it_was_missed_comes_back(
    services: Services,
    server: StoreServer,
    settings: Settings,
    first: Callable[[Services, Order], None],
) -> None:
    """By another process, which does not know of the payment."""
    worker = opened(services, hold=HOLD if first is expired else 60_000)
    worker.reporter.stop()  # its heartbeat would be the first
    order = bought(worker, "k")
    end = length(server.folder)
    services.holds.pay(order)
    restarted(server, lambda: cut(server.folder, end))
    other = Services(settings)
    first(other, order)
    other.engine.dispose()
    other.store.connection_pool.disconnect()
    with pytest.raises((StoreAway, NotOnSale)):
        bought(worker, "x")
    killed(services, worker)
    assert lastapple(services, "audit", "apple", "--repair", "--yes").exit_code == 0
    fulfil_all(services.fulfil)
    stands_as_sold(services, settings, order)
    assert services.rounds.left(services.rounds.find("apple", 1)) == 9


def test_a_payment_of_long_ago_may_be_forgotten(services: Services, server: StoreServer) -> None:
    """After a day the store forgets it: a worker that has confirmed it again does not miss it."""
    first = opened(services, hold=500)
    order = bought(first, "k")
    services.holds.pay(order)
    killed(services, first)
    worker = services.purchase()  # another one, which has not taken it
    time.sleep(0.6)
    services.holds.pay(order)
    services.store.delete(Keys("apple", 1).hold(order.id))
    restarted(server, lambda: None)
    bought(worker, "x")
    assert loss_marks.look(services.store, "apple").lack is None
    worker.reporter.stop()
