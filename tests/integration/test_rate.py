"""SHOP_RATE: how often one address may try to buy."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from tests.support.http_client import form_key, problem

RUNS_ON = ["valkey"]
PAGE = {"Accept": "text/html"}
HOME, AWAY = "127.0.0.1", "203.0.113.7"


@pytest.fixture
def limited(services: Services, settings: Settings) -> FlaskClient:
    """A browser before ten apples, in a shop where an address may try twice an hour."""
    services.rounds.start("apple", "atomic", 10, {})
    return create_shop(replace(settings, shop_rate="2/hour")).test_client()


def ask(shop: FlaskClient, address: str, key: str = "", form: bool = False) -> TestResponse:
    body = {"quantity": 1, "key": key}
    where = {"REMOTE_ADDR": address}
    if form:
        return shop.post("/buy/apple", data=body, environ_base=where)
    return shop.post("/buy/apple", json=body, environ_base=where)


def test_who_asks_too_often_is_told_when_to_come_back(
    limited: FlaskClient, services: Services
) -> None:
    assert [ask(limited, AWAY).status_code for _ in range(2)] == [201, 201]
    answer = ask(limited, AWAY)
    refused = problem(answer, 429)
    wait = int(answer.headers["Retry-After"])
    assert 3500 < wait <= 3601
    assert refused["title"] == "Too many requests"
    assert refused["detail"] == (
        f"You ask to buy too often. Try again in {wait:,} s: it is the same purchase."
    )
    assert services.rounds.left(services.rounds.find("apple")) == 8
    assert ask(limited, "203.0.113.8").status_code == 201, "another address is another one"


@pytest.mark.parametrize("address", [HOME, "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_this_machine_is_never_counted(limited: FlaskClient, address: str) -> None:
    assert {ask(limited, address).status_code for _ in range(5)} == {201}


def test_all_addresses_of_one_customer_are_one(limited: FlaskClient) -> None:
    its = [f"2001:db8:1:2::{number}" for number in range(3)]
    assert [ask(limited, each).status_code for each in its] == [201, 201, 429]
    assert ask(limited, "2001:db8:1:3::1").status_code == 201


def test_without_the_setting_nothing_is_counted(services: Services, settings: Settings) -> None:
    services.rounds.start("apple", "atomic", 10, {})
    shop = create_shop(settings).test_client()
    assert {ask(shop, AWAY).status_code for _ in range(5)} == {201}


def test_only_asking_to_buy_is_counted(limited: FlaskClient) -> None:
    for path in ("/", "/items", "/orders"):
        for _ in range(3):
            asked = limited.get(path, environ_base={"REMOTE_ADDR": AWAY})
            assert asked.status_code == 200
    assert ask(limited, AWAY).status_code == 201


def test_a_form_that_is_refused_keeps_its_key(limited: FlaskClient) -> None:
    key = form_key(limited)
    for _ in range(2):
        ask(limited, AWAY)
    page = ask(limited, AWAY, key, form=True)
    assert (page.status_code, "Retry-After" in page.headers) == (429, True)
    assert f'value="{key}"' in page.text
    assert "Trying again is safe" in page.text
    sold = [ask(limited, HOME, key, form=True).headers["Location"] for _ in range(2)]
    assert sold[0] == sold[1], "pressing again is the same purchase"


def test_behind_a_proxy_the_customer_is_counted(services: Services, settings: Settings) -> None:
    services.rounds.start("apple", "atomic", 10, {})
    shop = create_shop(replace(settings, shop_rate="1/day", trusted_proxies=1)).test_client()
    told = [
        shop.post("/buy/apple", json={}, headers={"X-Forwarded-For": customer}).status_code
        for customer in (AWAY, AWAY, "203.0.113.8", "nobody", "nobody")
    ]
    assert told == [201, 429, 201, 201, 429]
