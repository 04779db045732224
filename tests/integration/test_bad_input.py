"""Bad input to the shop gets a message and the right status; never a 500."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from app.lab.stampede.record import Run
from app.store.sql import orders
from tests.support.http_client import buy, problem
from tests.support.purchases import order
from tests.support.servers import free_port

RUNS_ON = ["valkey"]  # HTTP answers are the same on every store
SENT = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    "quantity", [0, -1, 1.5, "x", 11, 10**12, 10**30, None, True, [1], {"a": 1}, ""]
)
def test_bad_quantities(shop: FlaskClient, quantity: Any) -> None:
    if quantity == 10**30:  # more than the JSON library takes for a number
        problem(shop.post("/buy/apple", data=f'{{"quantity": {10**30}}}', headers=SENT), 422)
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
    """It would be cut off at the limit unnoticed, and the first part might be a purchase."""
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


# Broken headers and numbers: each is refused with its status, in JSON and on a page.
PAGE, JSON = {"Accept": "text/html"}, {"Accept": "application/json"}
BROKEN = "http://["


@pytest.fixture(params=["shop", "lab"])
def server(request: pytest.FixtureRequest, services: Services) -> FlaskClient:
    client: FlaskClient = request.getfixturevalue(request.param)
    return client


def refused(ask: Callable[..., TestResponse], path: str, status: int, **headers: str) -> None:
    problem(ask(path, headers=JSON | headers), status)
    page = ask(path, headers=PAGE | headers)
    assert (page.status_code, page.mimetype) == (status, "text/html")
    assert 'href="/static/design.css"' in page.text, "a page with its links"


@pytest.mark.parametrize("origin", [BROKEN, "null", "", "http://\u2100.example"])
def test_a_broken_origin_is_not_ours(server: FlaskClient, origin: str) -> None:
    refused(server.post, "/", 403, Origin=origin)


def test_from_a_broken_referer_the_languages_lead_to_the_front_page(server: FlaskClient) -> None:
    answer = server.post("/nowhere", headers=PAGE | {"Referer": BROKEN})
    assert answer.status_code == 404
    assert 'href="/?language=zh"' in answer.text


def test_a_host_that_cannot_be_one(server: FlaskClient) -> None:
    refused(server.get, "/", 400, Host="a" * 300)
    refused(server.get, "/nowhere", 400, Host="a" * 300)


def test_an_untrusted_host_at_the_lab(lab: FlaskClient) -> None:
    refused(lab.get, "/", 400, Host="evil.example")


@pytest.mark.parametrize("number", ["2147483648", "1" * 30, "1" * 5_000])
def test_a_number_that_no_round_can_have(lab: FlaskClient, number: str) -> None:
    refused(lab.post, f"/classroom/close/{number}", 404)
    refused(lab.get, f"/rounds/apple/{number}", 404)


@pytest.mark.parametrize("number", [2**31, -(2**31), 2**63, 2**64 - 1])
def test_a_number_beyond_all_bounds_in_a_field(lab: FlaskClient, number: int) -> None:
    wanted = {"item": "apple", "mode": "atomic", "stock": number}
    assert "stock" in problem(lab.post("/rounds", json=wanted), 422)["errors"]
    form = {name: str(value) for name, value in wanted.items()}
    assert lab.post("/rounds", data=form).status_code == 422
    assert lab.get(f"/history?page={number}").status_code == 422


@pytest.mark.parametrize(
    "seen", ["99999999999999999999-0", "18446744073709551615-18446744073709551615", "1-1\xb2"]
)
def test_an_event_that_no_stream_can_have(services: Services, lab: FlaskClient, seen: str) -> None:
    """The stream begins as if no event had been seen: it sends the run's end again."""
    crowd = {"buyers": 1, "seconds": 1}
    run: Run = services.runs.start("apple", "watch", 3, {}, crowd, lambda _: None)
    begun = lab.get(f"/runs/{run.id}/events", headers={"Last-Event-ID": seen})
    first = [next(begun.response) for _ in range(2)]  # type: ignore[call-overload]
    begun.close()
    assert first == [b"retry: 1000\n\n", b":\n\n"]
    services.runs.mark_crashed(run)
    assert "event: end" in lab.get(f"/runs/{run.id}/events", headers={"Last-Event-ID": seen}).text


@pytest.mark.parametrize("id", ["apple-\0", "apple-苹果", "apple-" + "f" * 5_000, "comparison-\0"])
def test_an_id_that_the_database_would_not_look_for(
    lab: FlaskClient, database_url: str, id: str
) -> None:
    refused(lab.get, f"/{'runs' if 'apple' in id else 'comparisons'}/{id}", 404)


def test_a_part_of_a_form_that_has_no_name(server: FlaskClient) -> None:
    body = b"--a\r\nContent-Disposition: form-data\r\n\r\nx\r\n--a--"
    path = "/buy/apple" if "shop.buy" in server.application.view_functions else "/comparisons"
    for accept in (JSON, PAGE):
        sent: dict[str, Any] = {"data": body, "headers": accept}
        answer = server.post(path, content_type="multipart/form-data; boundary=a", **sent)
        assert answer.status_code == 400


def test_an_order_whose_item_and_round_are_forgotten(shop: FlaskClient, services: Services) -> None:
    old = replace(order(services.rounds.find("apple")), item="durian", round=99)
    with services.servers.sessions.begin() as session:
        orders.insert_missing(session, [old])
    assert shop.get(f"/orders/{old.id}").get_json()["name"] == "durian"
    page = shop.get(f"/orders/{old.id}", headers=PAGE)
    assert page.status_code == 200
    assert "durian.svg" not in page.text, "there is no picture of it"
