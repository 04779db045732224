"""A phone buys one apple in the class's sale, whatever it tries; another client buys none."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from app.service.selling import holder, ticket
from tests.integration.classroom.lesson import HTML, Phones, press, see, start
from tests.support.http_client import form_key, problem
from tests.support.servers import until

RUNS_ON = ["valkey"]  # the class asks no store for anything special


@pytest.fixture
def ada(services: Services, lab: FlaskClient, phone: Phones) -> FlaskClient:
    """A phone in a sale of ten apples."""
    ada = phone("Ada")
    number = start(lab, stock=10)
    until(lambda: ada.get("/class/state").get_json()["round"] == number)
    return ada


def now(phone: FlaskClient) -> dict[str, Any]:
    state: dict[str, Any] = phone.get("/class/state").get_json()
    return state


def test_one_phone_takes_one_of_ten(services: Services, ada: FlaskClient) -> None:
    key = now(ada)["key"]
    for quantity in (9, 2):
        asked = {"json": {"quantity": quantity}, "headers": {"Idempotency-Key": key}}
        refused = problem(ada.post("/buy/apple", **asked), 422)
        assert refused["errors"].keys() == {"quantity"}
    for made_up in ("another", "class-1-me", f"class-1-{'0' * 36}", key + "x", key[:-1], ""):
        answer = press(ada, {"key": made_up})
        assert answer.status_code in (409, 422), made_up
    with ada.session_transaction() as cookie:
        unsigned = ticket(services.rounds.find("apple"), cookie["buyer"])
    problem(press(ada, {"key": unsigned}), 422)
    orders = {press(ada, now(ada)).get_json()["order"] for _ in range(9)}
    assert len(orders) == 1, "its own ticket, as often as it is pressed"
    assert services.rounds.left(services.rounds.find("apple")) == 9


def test_the_shelf_sells_none_of_the_classs_apples(
    settings: Settings, services: Services, ada: FlaskClient
) -> None:
    """Neither to a phone of the class, which would get a second one, nor to any other client."""
    for browser in (ada, create_shop(settings).test_client()):
        page = browser.get("/", headers=HTML).text
        assert 'href="/class"' in page
        assert 'action="/buy/apple"' not in page
        assert browser.get("/items").get_json()[0]["tickets"]
        refused = problem(browser.post("/buy/apple", json={}), 409)
        assert refused["title"] == "For the class only"
    answer = ada.post("/buy/apple", data={"quantity": "1", "key": now(ada)["key"]}, headers=HTML)
    assert answer.status_code == 303, "its own ticket on a form, without scripts"
    assert services.rounds.left(services.rounds.find("apple")) == 9


def test_a_form_from_before_the_sale_is_told_where_to_go(
    services: Services, lab: FlaskClient, phone: Phones
) -> None:
    ada = phone("Ada")
    services.rounds.start("apple", "watch", 3, {})
    key = form_key(ada)
    bought = ada.post("/buy/apple", data={"quantity": "1", "key": key}, headers=HTML)
    other = form_key(ada)
    number = start(lab)
    until(lambda: now(ada)["round"] == number)
    page = ada.post("/buy/apple", data={"quantity": "1", "key": other}, headers=HTML)
    assert (page.status_code, "For the class only" in page.text) == (409, True)
    assert 'href="/class"' in page.text
    again = ada.post("/buy/apple", data={"quantity": "1", "key": key}, headers=HTML)
    assert again.headers["Location"] == bought.headers["Location"], "a key outlives its round"


def test_last_sales_ticket_buys_nothing_in_this_one(
    services: Services, lab: FlaskClient, ada: FlaskClient
) -> None:
    old = now(ada)
    assert lab.post(f"/classroom/close/{old['round']}", json={}).status_code == 202
    number = start(lab)
    until(lambda: now(ada)["round"] == number)
    assert problem(press(ada, old), 409)["title"] == "For the class only"
    assert services.rounds.left(services.rounds.find("apple")) == 2


def test_what_the_projector_counts_are_apples(
    services: Services, lab: FlaskClient, phone: Phones, ada: FlaskClient
) -> None:
    bo = phone("Bo")
    for each in (ada, bo):
        asked = {"json": {"quantity": 3}, "headers": {"Idempotency-Key": now(each)["key"]}}
        each.post("/buy/apple", **asked)
        press(each, now(each))
    shown = see(services, most=1)[0].subject
    left = services.rounds.left(services.rounds.find("apple"))
    assert (shown["sold"], shown["left"]) == (2, left) == (2, 8)


def test_a_ticket_names_its_holder_and_its_round(services: Services) -> None:
    first = services.rounds.start("apple", "watch", 1, {})
    second = services.rounds.start("apple", "watch", 1, {})
    assert holder(first, ticket(first, "a-buyer")) == "a-buyer"
    assert holder(second, ticket(first, "a-buyer")) == ""
    assert holder(first, "a-key") == ""
