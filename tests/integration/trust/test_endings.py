"""An ending of a hold that a buyer has got stays, whatever the store forgets of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from app.domain import HoldOver, NotOnSale, Order, Stands, StoreAway
from app.service.purchase import Purchase
from app.store import dead_letters, loss_marks
from app.store.keys import Keys
from tests.integration.trust.sellers import bought, killed, lastapple, opened
from tests.support.data_loss import cut, length, restarted
from tests.support.holds import counted
from tests.support.servers import StoreServer, until

HOLD = 60_000  # ms
ENDS = {"decline": Stands.DECLINED, "cancel": Stands.CANCELLED}


def found_by(worker: Purchase) -> str:
    """Return the loss that the worker's next connection finds."""
    with pytest.raises((StoreAway, NotOnSale)):
        bought(worker, "x")
    lack = loss_marks.look(worker.servers.store, "apple").lack
    assert lack
    return lack.loss


def repaired(services: Services, worker: Purchase) -> Any:
    killed(services, worker)
    done = lastapple(services, "audit", "apple", "--repair", "--yes", "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def is_over(services: Services, settings: Settings, order: Order, stands: Stands) -> None:
    shop = create_shop(settings).test_client()
    assert shop.get(f"/orders/{order.id}").get_json()["state"] == stands.lower()
    assert told(shop, f"/orders/{order.id}/pay") == (410, stands)
    assert told(shop, "/buy/apple", order.key, order.quantity) == (410, stands)
    services.sweep.sweep()


def told(shop: FlaskClient, path: str, key: str = "", quantity: int = 1) -> tuple[int, str]:
    answer = shop.post(path, json={"quantity": quantity}, headers={"Idempotency-Key": key or "-"})
    return answer.status_code, answer.get_json().get("outcome")


@pytest.mark.parametrize("stands", ENDS.values())
@pytest.mark.parametrize("lost", ["a hold in the stream", "a hold that was entered", "the hold"])
def test_it_is_over_and_its_units_are_back_once(
    services: Services, server: StoreServer, settings: Settings, stands: Stands, lost: str
) -> None:
    round = services.rounds.start("apple", "atomic", 10, {"hold": HOLD})
    worker = services.purchase()
    bought(worker, "other")
    ends = {"the hold": length(server.folder)}
    order = bought(worker, "k", 3)
    ends["a hold in the stream"] = length(server.folder)
    services.holds.look(order)
    ends["a hold that was entered"] = length(server.folder)
    services.holds.give_up(order, stands)
    restarted(server, lambda: cut(server.folder, ends[lost]))
    assert found_by(worker) in ("sale", "ending")
    done = repaired(services, worker)
    (mended,) = done["rounds"]
    assert (mended["sold"], mended["held"], mended["left"]) == (0, 1, 9)
    assert done["lost"] == []
    is_over(services, settings, order, stands)
    assert counted(services, services.rounds.find("apple", round.number)) == (9, 1, 0)


def test_units_that_were_sold_again_are_sold_once(
    services: Services, server: StoreServer, settings: Settings
) -> None:
    worker = opened(services, "atomic", 1, hold=HOLD)
    order = bought(worker, "k")
    end = length(server.folder)
    services.holds.give_up(order, Stands.CANCELLED)
    other = bought(worker, "other")
    services.holds.pay(other)
    restarted(server, lambda: cut(server.folder, end))
    found_by(worker)
    (mended,) = repaired(services, worker)["rounds"]
    assert (mended["sold"], mended["held"], mended["left"]) == (1, 0, 0)
    assert mended["brought_back"] == [other.id]
    is_over(services, settings, order, Stands.CANCELLED)
    assert services.rounds.left(services.rounds.find("apple", 1)) == 0


def test_paid_for_at_another_worker_before_it_was_missed_it_is_sold(
    services: Services, server: StoreServer, settings: Settings
) -> None:
    worker = opened(services, "atomic", 5, hold=HOLD)
    worker.reporter.stop()  # its heartbeat would be the first
    order = bought(worker, "k")
    end = length(server.folder)
    services.holds.give_up(order, Stands.CANCELLED)
    restarted(server, lambda: cut(server.folder, end))
    other = Services(settings)
    other.holds.pay(order)
    other.engine.dispose()
    other.store.connection_pool.disconnect()
    assert found_by(worker) == "ending"
    (mended,) = repaired(services, worker)["rounds"]
    assert (mended["sold"], mended["held"], mended["left"]) == (1, 0, 4)
    shop = create_shop(settings).test_client()
    assert shop.get(f"/orders/{order.id}").get_json()["state"] == "recorded"


def test_an_expiry_stays_one(services: Services, server: StoreServer, settings: Settings) -> None:
    round = services.rounds.start("apple", "atomic", 10, {"hold": 500})
    worker = services.purchase()
    end = length(server.folder)
    order = bought(worker, "k", 2)
    until(lambda: services.sweep.holds.sweep(round, 1))
    with pytest.raises(HoldOver):
        services.holds.pay(order)
    restarted(server, lambda: cut(server.folder, end))
    found_by(worker)
    done = repaired(services, worker)
    assert done["lost"] == []
    is_over(services, settings, order, Stands.EXPIRED)
    assert counted(services, services.rounds.find("apple", 1)) == (10, 0, 0)


def test_an_end_of_long_ago_may_be_forgotten(services: Services, server: StoreServer) -> None:
    """After a day the store forgets it: a worker that has reported it again does not miss it."""
    first = opened(services, hold=HOLD)
    order = bought(first, "k")
    services.holds.give_up(order, Stands.CANCELLED)
    killed(services, first)
    worker = services.purchase()  # another one, which has not taken it
    name = Keys("apple", 1).hold(order.id)
    services.store.set(name, "CANCELLED 1000000000000")
    services.holds.give_up(order, Stands.CANCELLED)
    services.store.delete(name)
    restarted(server, lambda: None)
    bought(worker, "x")
    assert loss_marks.look(services.store, "apple").lack is None
    worker.reporter.stop()


def repeated(services: Services, order: Order) -> None:
    for _ in range(services.servers.settings.shop_threads + 1):
        services.holds.give_up(order, Stands.CANCELLED)


def sold(services: Services, order: Order) -> None:
    services.holds.give_up(order, Stands.CANCELLED)


@pytest.mark.parametrize("press", [sold, repeated])
def test_one_press_repeated_does_not_displace_what_a_worker_knows(
    services: Services,
    server: StoreServer,
    press: Callable[[Services, Order], None],
) -> None:
    worker = opened(services, hold=HOLD)
    order = bought(worker, "k")
    press(services, order)
    known = [(each.order.id, each.ended) for each in worker.detector.told["apple"]]
    assert known == [(order.id, None), (order.id, Stands.CANCELLED)]
    killed(services, worker)


def test_a_sale_that_was_dropped_does_not_come_back(
    services: Services, server: StoreServer
) -> None:
    worker = opened(services)
    bought(worker, "k")
    entries: Any = services.store.xrange(Keys("apple", 1).sales)
    [(entry, fields)] = entries
    dead_letters.add(services.store, Keys("apple", 1), entry, fields, "refused", 0, "")
    [letter] = services.dead_letters.every("apple")
    services.dead_letters.drop(letter)
    end = length(server.folder)
    lost = bought(worker, "lost")
    restarted(server, lambda: cut(server.folder, end))
    assert found_by(worker) == "sale"
    (mended,) = repaired(services, worker)["rounds"]
    assert mended["brought_back"] == [lost.id]
