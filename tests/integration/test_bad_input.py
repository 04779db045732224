"""Bad input to the shop is answered in words, with the right status; never with a 500."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from app import create_shop
from app.config import Settings
from tests.support.http_client import buy, problem
from tests.support.servers import free_port

JSON = {"Content-Type": "application/json"}


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
    assert shop.get("/items").get_json()[0]["left"] == 10, "nothing half sold"


def test_unknown_names_and_wrong_methods(shop: FlaskClient) -> None:
    problem(buy(shop, item="durian"), 404)
    problem(shop.get("/nowhere"), 404)
    problem(shop.get("/orders/00000000-0000-7000-8000-000000000000"), 404)
    problem(shop.get("/orders/no-uuid"), 404)
    answer = shop.get("/buy/apple")
    problem(answer, 405)
    assert "POST" in answer.headers["Allow"]


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
    assert shop.get("/items").get_json()[0]["left"] == 10


@pytest.mark.parametrize("body", [b"garbage", b"", b"key=k"])
def test_a_form_without_a_quantity_buys_nothing(shop: FlaskClient, body: bytes) -> None:
    answer = shop.post("/buy/apple", data=body, content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 422
    assert shop.get("/items").get_json()[0]["left"] == 10


def test_no_other_site_buys_in_a_visitors_name(shop: FlaskClient) -> None:
    evil = {"Origin": "http://evil.example"}
    assert shop.post("/buy/apple", data={"quantity": "1"}, headers=evil).status_code == 403


def test_the_store_away(settings: Settings, tmp_path: Path) -> None:
    nowhere = Settings(redis_url=f"redis://127.0.0.1:{free_port()}/0", var_dir=str(tmp_path))
    shop = create_shop(nowhere).test_client()
    for answer in (buy(shop), shop.get("/items")):
        refused = problem(answer, 503)
        assert answer.headers["Retry-After"] == "1"
        assert "redis" not in answer.text.lower(), "what we run on is nobody's business"
        assert refused["title"] == "The store is away"
    page = shop.get("/", headers={"Accept": "text/html"})
    assert (page.status_code, page.mimetype) == (503, "text/html")
