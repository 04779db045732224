"""Hold, then pay, for a program and for a browser without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app import create_lab, create_shop
from app.bootstrap import Services
from app.config import Settings
from tests.support.holds import LONG, runs_out
from tests.support.purchases import fulfil_all

RUNS_ON = ["valkey"]
MODES = ["atomic", "sql"]
UNKNOWN = "019aa000-0000-7000-8000-000000000000"


@pytest.fixture(params=MODES)
def holding(request: pytest.FixtureRequest, services: Services, settings: Settings) -> FlaskClient:
    services.rounds.start("apple", request.param, 5, {"hold": LONG})
    return create_shop(settings).test_client()


def bought(shop: FlaskClient, quantity: int = 2, key: str = "k") -> TestResponse:
    return shop.post("/buy/apple", json={"quantity": quantity}, headers={"Idempotency-Key": key})


def told(answer: TestResponse) -> tuple[int, Any]:
    return answer.status_code, (answer.json or {}).get("outcome")


def deed(shop: FlaskClient, order: str, name: str) -> TestResponse:
    return shop.post(f"/orders/{order}/{name}", headers={"Accept": "application/json"})


def state(shop: FlaskClient, order: str) -> str:
    return str(shop.get(f"/orders/{order}").json["state"])  # type: ignore[index]


def left(shop: FlaskClient) -> int:
    return int(shop.get("/items").json[0]["left"])  # type: ignore[index]


def test_hold_and_pay(services: Services, holding: FlaskClient) -> None:
    answer = bought(holding)
    assert told(answer) == (201, "HELD")
    order, until = answer.json["order"], answer.json["pay_until"]  # type: ignore[index]
    assert 0 < answer.json["pay_in_ms"] <= LONG  # type: ignore[index]
    assert abs(until - LONG - services.servers.clock.now()) < 10_000
    again = bought(holding).json
    assert again
    assert (again["outcome"], again["order"], again["pay_until"]) == ("HELD", order, until)
    seen = holding.get(f"/orders/{order}").json
    assert seen
    assert (seen["state"], seen["pay_until"]) == ("held", until)
    for _ in range(2):
        paid = deed(holding, order, "pay")
        assert told(paid) == (201, "SOLD")
        assert paid.json
        assert (paid.json["order"], paid.json["quantity"]) == (order, 2)
    assert told(bought(holding)) == (201, "SOLD")
    assert told(deed(holding, order, "cancel")) == (409, None)
    fulfil_all(services.fulfil)
    assert state(holding, order) == "confirmed"
    assert told(deed(holding, order, "pay")) == (201, "SOLD")
    assert left(holding) == 3


def test_the_lab_sees_what_runs_out_next(
    services: Services, settings: Settings, holding: FlaskClient
) -> None:
    first = bought(holding, 2, "a").json["order"]  # type: ignore[index]
    second = bought(holding, 1, "b").json["order"]  # type: ignore[index]
    runs_out(services, services.order_lookup.find(second).order)
    lab = create_lab(settings).test_client()
    seen = lab.get("/rounds/apple/1/holds").json["holds"]  # type: ignore[index]
    assert [(each["order"], each["quantity"]) for each in seen] == [(second, 1), (first, 2)]
    assert seen[0]["pay_in_ms"] == 0 < seen[1]["pay_in_ms"] <= LONG
    page_of_it = page(lab, "/rounds/apple/1")
    assert 'data-figure="held">3' in page_of_it


@pytest.mark.parametrize(("name", "outcome"), [("decline", "DECLINED"), ("cancel", "CANCELLED")])
def test_give_up(holding: FlaskClient, name: str, outcome: str) -> None:
    order = bought(holding).json["order"]  # type: ignore[index]
    for _ in range(2):
        assert told(deed(holding, order, name)) == (200, outcome)
        assert left(holding) == 5
    over(holding, order, outcome)


def test_late(services: Services, holding: FlaskClient) -> None:
    order = bought(holding).json["order"]  # type: ignore[index]
    runs_out(services, services.order_lookup.find(order).order)
    over(holding, order, "EXPIRED")
    assert left(holding) == 5


def over(shop: FlaskClient, order: str, outcome: str) -> None:
    for late in (deed(shop, order, "pay"), bought(shop)):
        assert (told(late), late.mimetype) == ((410, outcome), "application/problem+json")
        assert late.json
        assert (late.json["title"], late.json["order"]) == ("Held no more", order)
    assert state(shop, order) == outcome.lower()
    other = "cancel" if outcome == "DECLINED" else "decline"
    assert told(deed(shop, order, other)) == (410, outcome)


def test_what_was_never_held(services: Services, holding: FlaskClient) -> None:
    services.rounds.start("apple", "atomic", 5, {})
    answer = bought(holding)
    assert told(answer) == (201, "SOLD")
    assert answer.json
    assert "pay_until" not in answer.json
    assert told(deed(holding, answer.json["order"], "pay")) == (201, "SOLD")
    assert told(deed(holding, answer.json["order"], "decline")) == (409, None)
    assert told(deed(holding, UNKNOWN, "pay")) == (404, None)


def page(shop: FlaskClient, address: str) -> str:
    return shop.get(address, headers={"Accept": "text/html"}).text


def test_pages(services: Services, holding: FlaskClient) -> None:
    """A press of Buy leads to the payment page; its buttons are forms."""
    home = page(holding, "/")
    key = home.partition('name="key" value="')[2].partition('"')[0]
    sent = holding.post("/buy/apple", data={"quantity": "1", "key": key})
    where = sent.headers["Location"]
    held = page(holding, where)
    assert 'data-state="held"' in held
    assert f'action="{where}/pay"' in held
    assert "To be paid" in page(holding, "/orders")
    paid = holding.post(f"{where}/pay", data={})
    assert (paid.status_code, paid.headers["Location"]) == (303, where)
    assert "Thank you" in page(holding, where)

    other = holding.post("/buy/apple", data={"quantity": "1", "key": "another"}).headers["Location"]
    runs_out(services, services.order_lookup.find(other.rpartition("/")[2]).order)
    late = holding.post(f"{other}/pay", data={})
    assert (late.status_code, "Expired" in late.text) == (410, True)
    assert "Expired" in page(holding, "/orders")
    again = holding.post("/buy/apple", data={"quantity": "1", "key": "another"})
    assert (again.status_code, "Held no more" in again.text) == (410, True)


def test_the_lab_starts_one_and_a_crowd_gets_none(services: Services, settings: Settings) -> None:
    lab = create_lab(settings).test_client()
    wanted = {"item": "apple", "stock": 5, "mode": "atomic", "hold_ms": 60_000}
    started = lab.post("/rounds", json=wanted)
    assert (started.status_code, started.json["hold_ms"]) == (201, 60_000)  # type: ignore[index]
    assert "60,000 ms" in page(lab, "/rounds/apple/1")
    assert lab.get("/rounds/apple/1/audit").json["held"] == 0  # type: ignore[index]
    assert lab.get("/rounds/apple/1/holds").json == {"holds": []}
    refused = lab.post("/runs", json=wanted | {"buyers": 2, "seconds": 1})
    assert refused.status_code == 422
