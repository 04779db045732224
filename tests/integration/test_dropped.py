"""After `deadletter drop`, key and order page say for a day that the order was cancelled."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from app.domain import NotBooked, Order, UnknownDeadLetter
from app.service import booking
from app.store.dead_letters import DeadLetter
from app.store.keys import Keys
from app.store.sales import KEY_LIFE
from tests.integration.test_dead_letters import refusing
from tests.support.holds import LONG
from tests.support.http_client import form_key
from tests.support.purchases import fulfil_all, mode, order
from tests.support.sql_hooks import rows

RUNS_ON = ["valkey"]
HTML = {"Accept": "text/html"}
SAID = "This order could not be booked and was cancelled."


@pytest.fixture
def shop(services: Services, settings: Settings) -> FlaskClient:
    services.rounds.start("apple", "atomic", 10, {})
    return create_shop(settings).test_client()


def buy(shop: FlaskClient, key: str = "k", quantity: int = 1) -> TestResponse:
    return shop.post("/buy/apple", json={"quantity": quantity}, headers={"Idempotency-Key": key})


def refused(services: Services, shop: FlaskClient, key: str = "k") -> tuple[str, DeadLetter]:
    """Sell an order that the database refuses; return its id and its dead letter."""
    with refusing(services, key):
        sold = buy(shop, key).get_json()["order"]
        fulfil_all(services.fulfil)
    [letter] = services.dead_letters.every("apple")
    return sold, letter


def cancelled(answer: TestResponse, order: str) -> None:
    said: dict[str, Any] = answer.get_json()
    assert (answer.status_code, said["detail"]) == (410, SAID), said
    assert (said["type"], said["order"]) == ("/contract#not-booked", order)


@pytest.mark.parametrize("later", ["same", "atomic", "watch", "lock:lease", "decr", "sql", ""])
def test_the_key_sells_nothing_again(services: Services, shop: FlaskClient, later: str) -> None:
    """In a later round, or in none."""
    sold, letter = refused(services, shop)
    services.dead_letters.drop(letter)
    if not later:
        services.rounds.end("apple")
    elif later != "same":
        services.rounds.start("apple", later, 10, {})
    cancelled(buy(shop), sold)
    cancelled(buy(shop), sold)
    assert services.rounds.left(services.rounds.find("apple")) == (
        10 if later != "same" and later else 9
    )
    fulfil_all(services.fulfil)
    assert rows(services) == 0
    assert 0 < services.store.ttl(Keys("apple", 1).key("k")) <= KEY_LIFE


def test_the_order_says_so_too(services: Services, shop: FlaskClient) -> None:
    sold, letter = refused(services, shop)
    shop.get("/", headers=HTML)
    services.dead_letters.drop(letter)
    cancelled(shop.get(f"/orders/{sold}"), sold)
    page = shop.get(f"/orders/{sold}", headers=HTML)
    assert (page.status_code, SAID in page.text) == (410, True)
    for deed in ("pay", "cancel", "decline"):
        cancelled(shop.post(f"/orders/{sold}/{deed}", json={}), sold)
    assert (
        "这笔订单无法入账，已被取消。" in shop.get(f"/orders/{sold}?language=zh", headers=HTML).text
    )


def test_a_form_gets_a_page(services: Services, shop: FlaskClient) -> None:
    key = form_key(shop)
    form = {"quantity": "1", "key": key}
    with refusing(services, key.rpartition(".")[0]):
        assert shop.post("/buy/apple", data=form, headers=HTML).status_code == 303
        fulfil_all(services.fulfil)
    [letter] = services.dead_letters.every("apple")
    services.dead_letters.drop(letter)
    answer = shop.post("/buy/apple", data=form, headers=HTML)
    assert (answer.status_code, SAID in answer.text) == (410, True)
    assert key not in answer.text, "there is nothing to try again"
    mine = shop.get("/orders").get_json()
    assert [each["state"] for each in mine["orders"]] == ["not_booked"]
    assert mine["partial"] is False
    assert "Cancelled" in shop.get("/orders", headers=HTML).text


def test_paid_for_and_dropped(services: Services, settings: Settings) -> None:
    services.rounds.start("apple", "atomic", 10, {"hold": LONG})
    shop = create_shop(settings).test_client()
    with refusing(services, "k"):
        sold = buy(shop).get_json()["order"]
        shop.post(f"/orders/{sold}/pay", json={})
        fulfil_all(services.fulfil)
    [letter] = services.dead_letters.every("apple")
    services.dead_letters.drop(letter)
    cancelled(buy(shop), sold)
    cancelled(shop.get(f"/orders/{sold}"), sold)


def test_a_key_that_had_bought_before_leads_to_that_order(
    services: Services, shop: FlaskClient
) -> None:
    first = buy(shop).get_json()["order"]
    fulfil_all(services.fulfil)
    services.store.delete(Keys("apple", 1).key("k"))  # the store has forgotten it
    second = buy(shop).get_json()["order"]
    fulfil_all(services.fulfil)
    [letter] = services.dead_letters.every("apple")
    services.dead_letters.drop(letter)
    again = buy(shop)
    assert (again.status_code, again.get_json()["order"]) == (201, first)
    cancelled(shop.get(f"/orders/{second}"), second)


@pytest.mark.parametrize("sale", [b"\xff{", b"[]", b'{"id":"x","key":"k"}'])
def test_what_cannot_be_read_is_deleted_and_no_more(
    services: Services, shop: FlaskClient, sale: bytes
) -> None:
    sold = buy(shop).get_json()["order"]
    services.store.xadd(Keys("apple", 1).sales, {"sale": sale})
    fulfil_all(services.fulfil)
    [letter] = services.dead_letters.every("apple")
    services.dead_letters.drop(letter)
    assert services.dead_letters.every("apple") == []
    assert buy(shop).get_json()["order"] == sold


def test_another_rounds_sale_in_the_stream_concerns_no_order(
    services: Services, shop: FlaskClient
) -> None:
    """Its bytes are those of an order without a fault."""
    sold = buy(shop).get_json()["order"]
    sale: Any = services.store.get(Keys("apple", 1).key("k"))
    services.rounds.start("apple", "atomic", 10, {})
    services.store.xadd(Keys("apple", 2).sales, {"sale": sale})
    fulfil_all(services.fulfil)
    [letter] = services.dead_letters.every("apple")
    services.dead_letters.drop(letter)
    assert buy(shop).get_json()["order"] == sold


def test_booked_by_one_and_dropped_by_another_it_is_booked(
    services: Services, shop: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second comes between the first one's commit and its last step."""
    sold, letter = refused(services, shop)
    books = booking.book

    def book(*args: Any) -> Any:
        done = books(*args)
        services.dead_letters.drop(letter)
        return done

    monkeypatch.setattr("app.service.dead_letters.book", book)
    assert services.dead_letters.retry(letter) == ""
    again = buy(shop)
    assert (again.status_code, again.get_json()["order"]) == (201, sold)
    assert shop.get(f"/orders/{sold}").get_json()["state"] == "confirmed"
    with pytest.raises(UnknownDeadLetter):
        services.dead_letters.drop(letter)


def test_a_mark_in_a_stream_is_no_sale(services: Services) -> None:
    round = services.rounds.start("fig", "atomic", 5, {})
    mode(services, round).sell(order(round))
    mark = NotBooked(order(round)).encode()
    services.store.xadd(Keys("fig", 1).sales, {"sale": mark})
    fulfil_all(services.fulfil)
    [letter] = services.dead_letters.every("fig")
    assert SAID in letter.reason
    with pytest.raises(NotBooked):
        Order.decode(mark)
