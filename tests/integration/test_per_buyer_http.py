"""A round that limits each buyer, for buyers, programs and instructors."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from app import create_lab, create_shop
from app.bootstrap import Services
from app.config import Settings
from app.domain import Outcome
from tests.support.http_client import buy, form_key, problem
from tests.support.purchases import fulfil_all

RUNS_ON = ["valkey"]
PAGE = {"Accept": "text/html"}


@pytest.fixture
def limited(services: Services, settings: Settings) -> FlaskClient:
    """A browser that is known, before a round of ten apples, two for each buyer."""
    services.rounds.start("apple", "atomic", 10, {"per_buyer": 2})
    browser = create_shop(settings).test_client()
    browser.get("/", headers=PAGE)
    return browser


def test_a_refusal_says_how_many_the_buyer_has(limited: FlaskClient) -> None:
    assert buy(limited, {"quantity": 1}).status_code == 201
    refused = problem(buy(limited, {"quantity": 2}), 409)
    assert refused["title"] == "Limit reached"
    assert refused["detail"] == "One buyer gets 2 of these at most, and you have bought 1."
    told = {name: refused[name] for name in ("outcome", "bought", "per_buyer", "left")}
    assert told == {"outcome": "LIMIT", "bought": 1, "per_buyer": 2, "left": 9}
    assert buy(limited, {"quantity": 1}).status_code == 201


def test_the_same_press_finds_its_order_though_the_limit_is_reached(limited: FlaskClient) -> None:
    sold = buy(limited, {"quantity": 2}, **{"Idempotency-Key": "k"}).get_json()
    problem(buy(limited), 409)
    again = buy(limited, {"quantity": 2}, **{"Idempotency-Key": "k"})
    assert (again.status_code, again.get_json()["order"]) == (201, sold["order"])


def test_a_form_is_told_on_a_page(limited: FlaskClient) -> None:
    key = form_key(limited)
    limited.post("/buy/apple", data={"quantity": 2, "key": key})
    page = limited.post("/buy/apple", data={"quantity": 1, "key": form_key(limited)})
    assert page.status_code == 409
    assert "One buyer gets 2 of these at most, and you have bought 2." in page.text
    again = limited.post("/buy/apple", data={"quantity": 2, "key": key})
    assert again.status_code == 303, "an order that was made is still found by its form"


def test_the_shelf_says_the_limit_and_offers_no_more(limited: FlaskClient) -> None:
    page = limited.get("/", headers=PAGE).text
    assert "At most 2 for each buyer" in page
    apple = limited.get("/items", headers={"Accept": "application/json"}).get_json()[0]
    assert (apple["per_buyer"], apple["limit"]) == (2, 2)


def test_who_has_no_name_is_asked_for_one(limited: FlaskClient, services: Services) -> None:
    program = limited.application.test_client()
    refused = problem(buy(program), 422)
    assert refused["errors"] == {
        "buyer": "One buyer gets 2 at most, so say who you are: ask for / once, and send the "
        "cookie that comes with it."
    }
    assert services.rounds.left(services.rounds.find("apple")) == 10
    program.get("/", headers=PAGE)
    assert buy(program).status_code == 201


def test_who_bought_without_a_name_before_still_finds_that(
    limited: FlaskClient, services: Services
) -> None:
    program = limited.application.test_client()
    services.rounds.start("apple", "atomic", 10, {})
    sold = buy(program, **{"Idempotency-Key": "k"}).get_json()
    services.rounds.start("apple", "atomic", 10, {"per_buyer": 1})
    again = buy(program, **{"Idempotency-Key": "k"})
    assert (again.status_code, again.get_json()["order"]) == (201, sold["order"])


def test_a_press_without_a_cookie_is_the_buyer_of_its_form(limited: FlaskClient) -> None:
    stranger = limited.application.test_client(use_cookies=False)
    key = form_key(stranger)
    for _ in range(2):
        sold = stranger.post("/buy/apple", data={"quantity": 2, "key": key})
        assert sold.status_code == 303


def test_a_refusal_is_counted_and_is_no_fault(
    limited: FlaskClient, services: Services, settings: Settings
) -> None:
    shop = services.purchase()
    try:
        told = [shop.buy("apple", 2, buyer="A").sale.outcome for _ in range(3)]
        assert told == [Outcome.SOLD, Outcome.LIMIT, Outcome.LIMIT]
        shop.reporter.leave(shop.running_rounds.selling["apple"].keys)
        shop.reporter.stop()
        shop.reporter._publish(next(iter(shop.reporter.shifts.values())))
    finally:
        shop.reporter.stop()
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(services.rounds.find("apple"))
    assert (audit.answers["LIMIT"], audit.answers["BUSY"]) == (2, 0)
    assert (audit.verdict, audit.sold, audit.left) == ("exact", 2, 8)


def test_the_lab_sets_it_and_shows_it(services: Services, settings: Settings) -> None:
    lab = create_lab(settings).test_client()
    round = {"item": "apple", "mode": "atomic", "stock": 5}
    begun = lab.post("/rounds", json=round | {"per_buyer": 1})
    assert (begun.status_code, begun.get_json()["per_buyer"]) == (201, 1)
    page = lab.get("/rounds/apple/1", headers=PAGE).text
    assert "Limit of a buyer" in page
    assert "per_buyer=1" in page, "start another like it"
    refused = problem(lab.post("/rounds", json=round | {"per_buyer": 1001}), 422)
    assert refused["errors"] == {"per_buyer": "Limit of a buyer must be from 0 to 1,000 units."}


@pytest.mark.parametrize("where", ["/runs", "/comparisons", "/classroom/sale"])
def test_where_buyers_have_no_names_it_cannot_be_set(
    services: Services, settings: Settings, where: str
) -> None:
    lab = create_lab(settings).test_client()
    assert "per_buyer" in problem(lab.post(where, json={"per_buyer": 1}), 422)["errors"]
