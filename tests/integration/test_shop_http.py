"""The shop's HTTP: outcomes, problems, pages."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from flask.testing import FlaskClient

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from tests.support.http_client import buy, form_key, problem
from tests.support.purchases import fulfil_all
from tests.support.servers import free_port


def test_sold(shop: FlaskClient) -> None:
    answer = buy(shop, {"quantity": 3})
    sold = answer.get_json()
    assert answer.status_code == 201
    assert sold.pop("order")
    assert sold == {
        "outcome": "SOLD",
        "item": "apple",
        "quantity": 3,
        "left": 7,
        "attempts": 1,
        "conflicts": 0,
        "mode": "watch",
        "round": 1,
        "round_trips": 3,
        "commands": 7,
        "lock_lost": False,
    }


def test_sold_out_says_how_many_are_left(shop: FlaskClient) -> None:
    buy(shop, {"quantity": 8})
    refused = problem(buy(shop, {"quantity": 3}), 409)
    assert (refused["outcome"], refused["left"], refused["title"]) == ("SOLD_OUT", 2, "Sold out")


def test_busy_says_when_to_try_again(services: Services, shop: FlaskClient) -> None:
    services.rounds.start("apple", "lock:lease", 10, {"wait": 0})
    services.store.set("{apple}:2:lock", "somebody")
    answer = buy(shop)
    assert problem(answer, 503)["outcome"] == "BUSY"
    assert answer.headers["Retry-After"] == "1"


def test_not_on_sale(services: Services, shop: FlaskClient) -> None:
    services.rounds.end("apple")
    refused = problem(buy(shop), 409)
    assert refused["title"] == "Not on sale"
    assert "outcome" not in refused


def test_an_early_click_is_told_so(services: Services, shop: FlaskClient) -> None:
    round = services.rounds.start("apple", "watch", 5, {"delay": 60_000})
    refused = problem(buy(shop), 409)
    assert refused["title"] == "Not open yet"
    assert 0 < refused["opens_in_ms"] <= 60_000
    assert services.rounds.left(round) == 5
    apple = shop.get("/items").get_json()[0]
    assert apple["on_sale"]
    assert 0 < apple["opens_in_ms"] <= refused["opens_in_ms"]


def test_a_round_opens_by_itself_and_not_before(services: Services, shop: FlaskClient) -> None:
    round = services.rounds.start("apple", "watch", 1, {"delay": 1_500})
    refusals = 0
    while (answer := buy(shop)).status_code == 409:
        refusals += 1
    assert refusals
    assert answer.status_code == 201
    order = shop.get(
        f"/orders/{answer.get_json()['order']}", headers={"Accept": "application/json"}
    ).get_json()
    assert datetime.fromisoformat(order["sold_at"]).timestamp() * 1000 >= round.opens


def test_the_same_key(shop: FlaskClient) -> None:
    key = {"Idempotency-Key": "mine"}
    first, again = buy(shop, {"quantity": 2}, **key), buy(shop, {"quantity": 2}, **key)
    assert first.get_json()["order"] == again.get_json()["order"]
    assert again.status_code == 201
    problem(buy(shop, {"quantity": 3}, **key), 422)
    assert shop.get("/items").get_json()[0]["left"] == 8


def test_a_key_outlives_its_round(services: Services, shop: FlaskClient) -> None:
    first = buy(shop, **{"Idempotency-Key": "mine"})
    services.rounds.start("apple", "atomic", 5, {})
    again = buy(shop, **{"Idempotency-Key": "mine"})
    assert first.get_json()["order"] == again.get_json()["order"]


def test_a_key_is_found_when_no_round_runs_any_more(services: Services, shop: FlaskClient) -> None:
    """The answer was lost and the round has ended: the buyer still learns of the order."""
    key = {"Idempotency-Key": "mine"}
    first = buy(shop, {"quantity": 9}, **key)
    services.rounds.end("apple")
    again = buy(shop, {"quantity": 9}, **key)
    assert (again.status_code, again.get_json()["order"]) == (201, first.get_json()["order"])
    problem(buy(shop, {"quantity": 8}, **key), 422)
    problem(buy(shop, **{"Idempotency-Key": "another"}), 409)
    services.rounds.start("apple", "atomic", 5, {"limit": 2})
    assert buy(shop, {"quantity": 9}, **key).get_json()["order"] == first.get_json()["order"]


def test_a_form_goes_to_the_order_page(services: Services, shop: FlaskClient) -> None:
    answer = shop.post("/buy/apple", data={"quantity": "2", "key": form_key(shop)})
    assert answer.status_code == 303
    order = answer.headers["Location"]
    page = shop.get(order, headers={"Accept": "text/html"}).text
    assert "2 × Apple, €1.20" in page
    assert shop.get(order).get_json()["state"] == "recorded"
    fulfil_all(services.fulfil)
    assert shop.get(order).get_json()["state"] == "confirmed"


def test_my_orders_are_mine(services: Services, shop: FlaskClient, settings: Settings) -> None:
    html = {"Accept": "text/html"}
    shop.get("/", headers=html)  # where the cookie comes from
    buy(shop)
    shop.post("/buy/apple", data={"quantity": "1"})
    assert len(shop.get("/orders").get_json()["orders"]) == 2, "while still in the store"
    fulfil_all(services.fulfil)
    mine = shop.get("/orders").get_json()["orders"]
    assert [order["state"] for order in mine] == ["confirmed", "confirmed"]
    stranger = create_shop(settings).test_client()
    assert stranger.get("/orders").get_json()["orders"] == []
    forged = create_shop(settings).test_client()
    cookie = shop.get_cookie("buyer")
    assert cookie
    forged.set_cookie("buyer", cookie.value[:-2] + "xx")
    assert forged.get("/orders").get_json()["orders"] == []


def test_the_shelf(shop: FlaskClient) -> None:
    page = shop.get("/", headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert "10 left" in page.text
    assert "Not on sale at the moment" in page.text  # the pear, which has no round here
    assert page.text.count('name="key"') == 1
    assert "script-src" in page.headers["Content-Security-Policy"] or (
        "default-src 'self'" in page.headers["Content-Security-Policy"]
    )


def test_a_sold_out_page_is_a_page(shop: FlaskClient) -> None:
    buy(shop, {"quantity": 10})
    answer = shop.post("/buy/apple", data={"quantity": "1"})
    assert (answer.status_code, answer.mimetype) == (409, "text/html")
    assert "Sold out" in answer.text


def test_with_some_left_the_page_does_not_say_sold_out(shop: FlaskClient) -> None:
    buy(shop, {"quantity": 9})
    answer = shop.post("/buy/apple", data={"quantity": "2"})
    assert "Not enough left" in answer.text
    assert "Sold out" not in answer.text


def test_trying_again_from_the_busy_page_keeps_the_key(
    services: Services, shop: FlaskClient
) -> None:
    services.rounds.start("apple", "lock:lease", 10, {"wait": 0})
    services.store.set("{apple}:2:lock", "somebody")
    key = form_key(shop)
    answer = shop.post("/buy/apple", data={"quantity": "2", "key": key})
    assert answer.status_code == 503
    assert f'value="{key}"' in answer.text
    assert 'name="quantity" value="2"' in answer.text


def test_noop_costs_no_store(settings: Settings, tmp_path: Path) -> None:
    nowhere = Settings(redis_url=f"redis://127.0.0.1:{free_port()}/0", var_dir=str(tmp_path))
    answer = create_shop(nowhere).test_client().post("/noop", json={})
    assert (answer.status_code, answer.get_json()) == (200, {"outcome": "NOOP"})
