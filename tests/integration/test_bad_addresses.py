"""Broken headers and numbers: each is refused with its status, in JSON and on a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.bootstrap import Services
from app.lab.stampede.record import Run
from app.store import orders
from tests.support.http_client import problem
from tests.support.purchases import order

RUNS_ON = ["valkey"]
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
    """As if none had been seen: the run's end is told again."""
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
