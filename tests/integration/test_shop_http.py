"""The shop's HTTP: outcomes, problems, pages. Bad input is answered in words, never with a 500."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app import Parts, create_shop
from app.config import Settings
from tests.selling import fulfil_all
from tests.servers import free_port

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def shop(parts: Parts, settings: Settings) -> FlaskClient:
    parts.rounds.start("apple", "watch", 10, {"limit": 10})
    return create_shop(settings).test_client()


def buy(shop: FlaskClient, body: Any = None, item: str = "apple", **headers: str) -> TestResponse:
    return shop.post(f"/buy/{item}", json={} if body is None else body, headers=headers)


def problem(answer: TestResponse, status: int) -> dict[str, Any]:
    """The members of a problem document, after checking that it is one."""
    assert answer.status_code == status, answer.text
    assert answer.mimetype == "application/problem+json"
    document: dict[str, Any] = answer.get_json(force=True)
    assert document["status"] == status
    assert document["title"]
    assert document["detail"]
    assert "Traceback" not in answer.text
    return document


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


def test_busy_says_when_to_try_again(parts: Parts, shop: FlaskClient) -> None:
    parts.rounds.start("apple", "lock:lease", 10, {"wait": 0})
    parts.store.set("{apple}:2:lock", "somebody")
    answer = buy(shop)
    assert problem(answer, 503)["outcome"] == "BUSY"
    assert answer.headers["Retry-After"] == "1"


@pytest.mark.parametrize(
    "quantity", [0, -1, 1.5, "x", 11, 10**12, 10**30, None, True, [1], {"a": 1}, ""]
)
def test_bad_quantities(shop: FlaskClient, quantity: Any) -> None:
    if quantity == 10**30:  # more than the JSON library takes for a number
        problem(shop.post("/buy/apple", data=f'{{"quantity": {10**30}}}', headers=JSON), 422)
        return
    assert "quantity" in problem(buy(shop, {"quantity": quantity}), 422)["errors"]


@pytest.mark.parametrize("quantity", ["0", "-1", "1.5", "x", "11", "1000000000000", "", "٣", "1e1"])
def test_bad_quantities_from_a_form(shop: FlaskClient, quantity: str) -> None:
    answer = shop.post("/buy/apple", data={"quantity": quantity})
    assert answer.status_code == 422
    assert answer.mimetype == "text/html"


@pytest.mark.parametrize("key", ["k" * 129, "tab\there", "bell\x07"])
def test_bad_keys(shop: FlaskClient, key: str) -> None:
    assert "key" in problem(buy(shop, {"key": key}), 422)["errors"]


def test_a_key_of_128_characters_is_fine(shop: FlaskClient) -> None:
    assert buy(shop, **{"Idempotency-Key": "k" * 128}).status_code == 201


@pytest.mark.parametrize(
    ("body", "mimetype", "status"),
    [
        (b"{not json", "application/json", 400),
        (b"", "application/json", 400),
        (b"[1]", "application/json", 422),
        (b'"one"', "application/json", 422),
        (b"\xff\xfe", "application/json", 400),
        (b"{}", "text/plain", 415),
        (b"<a/>", "application/xml", 415),
        (b'{"quantity": 1, "x": "%s"}' % (b"x" * 17_000), "application/json", 413),
    ],
)
def test_bad_bodies(shop: FlaskClient, body: bytes, mimetype: str, status: int) -> None:
    headers = {"Content-Type": mimetype, "Accept": "application/json"}
    problem(shop.post("/buy/apple", data=body, headers=headers), status)
    assert shop.get("/items").get_json()[0]["stock"] == 10, "nothing half sold"


def test_unknown_names_and_wrong_methods(shop: FlaskClient) -> None:
    problem(buy(shop, item="durian"), 404)
    problem(shop.get("/nowhere"), 404)
    problem(shop.get("/orders/00000000-0000-7000-8000-000000000000"), 404)
    problem(shop.get("/orders/no-uuid"), 404)
    answer = shop.get("/buy/apple")
    problem(answer, 405)
    assert "POST" in answer.headers["Allow"]


def test_not_on_sale(parts: Parts, shop: FlaskClient) -> None:
    parts.rounds.end("apple")
    refused = problem(buy(shop), 409)
    assert refused["title"] == "Not on sale"
    assert "outcome" not in refused


def test_the_same_key(shop: FlaskClient) -> None:
    key = {"Idempotency-Key": "mine"}
    first, again = buy(shop, {"quantity": 2}, **key), buy(shop, {"quantity": 2}, **key)
    assert first.get_json()["order"] == again.get_json()["order"]
    assert again.status_code == 201
    problem(buy(shop, {"quantity": 3}, **key), 422)
    assert shop.get("/items").get_json()[0]["stock"] == 8


def test_a_key_outlives_its_round(parts: Parts, shop: FlaskClient) -> None:
    first = buy(shop, **{"Idempotency-Key": "mine"})
    parts.rounds.start("apple", "atomic", 5, {})
    again = buy(shop, **{"Idempotency-Key": "mine"})
    assert first.get_json()["order"] == again.get_json()["order"]


def test_a_key_is_found_when_no_round_runs_any_more(parts: Parts, shop: FlaskClient) -> None:
    """The answer was lost and the round has ended: the buyer still learns of the order."""
    key = {"Idempotency-Key": "mine"}
    first = buy(shop, {"quantity": 9}, **key)
    parts.rounds.end("apple")
    again = buy(shop, {"quantity": 9}, **key)
    assert (again.status_code, again.get_json()["order"]) == (201, first.get_json()["order"])
    problem(buy(shop, {"quantity": 8}, **key), 422)
    problem(buy(shop, **{"Idempotency-Key": "another"}), 409)
    parts.rounds.start("apple", "atomic", 5, {"limit": 2})
    assert buy(shop, {"quantity": 9}, **key).get_json()["order"] == first.get_json()["order"]


@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded"])
def test_a_body_of_unsaid_length_is_refused(shop: FlaskClient, kind: str) -> None:
    """It would be cut short at the limit in silence, and what is left of it might be a purchase."""
    body = b'{"quantity": 1}' if "json" in kind else b"quantity=1&x=" + b"x" * 40_000
    answer = shop.post(
        "/buy/apple",
        input_stream=BytesIO(body),
        content_type=kind,
        environ_overrides={"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"},
        headers={"Accept": "application/json"},
    )
    assert answer.status_code == 411
    assert shop.get("/items").get_json()[0]["stock"] == 10


@pytest.mark.parametrize("body", [b"garbage", b"", b"key=k"])
def test_a_form_without_a_quantity_buys_nothing(shop: FlaskClient, body: bytes) -> None:
    answer = shop.post("/buy/apple", data=body, content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 422
    assert shop.get("/items").get_json()[0]["stock"] == 10


def test_no_other_site_buys_in_a_visitors_name(shop: FlaskClient) -> None:
    evil = {"Origin": "http://evil.example"}
    assert shop.post("/buy/apple", data={"quantity": "1"}, headers=evil).status_code == 403


def test_a_form_goes_to_the_order_page(parts: Parts, shop: FlaskClient) -> None:
    answer = shop.post("/buy/apple", data={"quantity": "2", "key": "k"})
    assert answer.status_code == 303
    order = answer.headers["Location"]
    page = shop.get(order, headers={"Accept": "text/html"}).text
    assert "2 × Apple, €1.20" in page
    assert shop.get(order).get_json()["state"] == "recorded"
    fulfil_all(parts.fulfil)
    assert shop.get(order).get_json()["state"] == "confirmed"


def test_my_orders_are_mine(parts: Parts, shop: FlaskClient, settings: Settings) -> None:
    html = {"Accept": "text/html"}
    shop.get("/", headers=html)  # where the cookie comes from
    buy(shop)
    shop.post("/buy/apple", data={"quantity": "1"})
    assert len(shop.get("/orders").get_json()["orders"]) == 2, "while still in the store"
    fulfil_all(parts.fulfil)
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
    keys = re.findall(r'name="key" value="([^"]+)"', page.text)
    assert len(keys) == len(set(keys)) == 1
    assert "script-src" in page.headers["Content-Security-Policy"] or (
        "default-src 'self'" in page.headers["Content-Security-Policy"]
    )


def test_a_sold_out_page_is_a_page(shop: FlaskClient) -> None:
    buy(shop, {"quantity": 10})
    answer = shop.post("/buy/apple", data={"quantity": "1"})
    assert (answer.status_code, answer.mimetype) == (409, "text/html")
    assert "Sold out" in answer.text


def test_trying_again_from_the_busy_page_keeps_the_key(parts: Parts, shop: FlaskClient) -> None:
    parts.rounds.start("apple", "lock:lease", 10, {"wait": 0})
    parts.store.set("{apple}:2:lock", "somebody")
    answer = shop.post("/buy/apple", data={"quantity": "2", "key": "the-same"})
    assert answer.status_code == 503
    assert 'value="the-same"' in answer.text
    assert 'name="quantity" value="2"' in answer.text


def test_the_store_away(settings: Settings, tmp_path: Path) -> None:
    nowhere = Settings(redis_url=f"redis://127.0.0.1:{free_port()}/0", var_dir=str(tmp_path))
    shop = create_shop(nowhere).test_client()
    for answer in (buy(shop), shop.get("/items"), shop.get("/health")):
        refused = problem(answer, 503)
        assert answer.headers["Retry-After"] == "1"
        assert "redis" not in answer.text.lower(), "what we run on is nobody's business"
        assert refused["title"] == "The store is away"
    page = shop.get("/", headers={"Accept": "text/html"})
    assert (page.status_code, page.mimetype) == (503, "text/html")


def test_noop_costs_no_store(settings: Settings, tmp_path: Path) -> None:
    nowhere = Settings(redis_url=f"redis://127.0.0.1:{free_port()}/0", var_dir=str(tmp_path))
    answer = create_shop(nowhere).test_client().post("/noop", json={})
    assert (answer.status_code, answer.get_json()) == (200, {"outcome": "NOOP"})
