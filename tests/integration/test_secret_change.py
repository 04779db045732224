"""While a secret is changed, hosts with the old and with the new one know each other's buyers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from app.domain import Invalid
from app.service.selling import ticket
from app.shop import form_keys
from tests.integration.test_form_keys import HTML, press
from tests.support.http_client import buy, form_key

RUNS_ON = ["valkey"]  # the web layer reads cookies and forms, the same on every store
OLD, NEW = "o" * 32, "n" * 32
# A host's settings: before the change, between both steps, and after it.
STEPS = [(OLD, ""), (OLD, NEW), (NEW, OLD), (NEW, "")]
AT_ONCE = [(STEPS[0], STEPS[1]), (STEPS[1], STEPS[2]), (STEPS[2], STEPS[3])]
BOTH_WAYS = [*AT_ONCE, *((late, early) for early, late in AT_ONCE)]


def host(settings: Settings, secrets: tuple[str, str]) -> Flask:
    return create_shop(replace(settings, secret_key=secrets[0], secret_key_old=secrets[1]))


@pytest.fixture(params=BOTH_WAYS, ids=str)
def hosts(
    request: pytest.FixtureRequest, services: Services, settings: Settings
) -> tuple[Flask, Flask]:
    """Two hosts that run at the same time, selling ten apples, one to each buyer."""
    services.rounds.start("apple", "watch", 10, {"per_buyer": 1})
    one, other = request.param
    return host(settings, one), host(settings, other)


def test_a_cookie_is_known_at_the_other_host(hosts: tuple[Flask, Flask]) -> None:
    here, there = (each.test_client() for each in hosts)
    here.get("/", headers=HTML)  # where a browser gets its cookie
    assert buy(here).status_code == 201
    cookie = here.get_cookie("buyer")
    assert cookie
    there.set_cookie("buyer", cookie.value)
    assert buy(there).get_json()["outcome"] == "LIMIT"
    assert len(there.get("/orders").get_json()["orders"]) == 1


def test_a_form_without_a_cookie_is_the_same_buyers_at_the_other_host(
    hosts: tuple[Flask, Flask],
) -> None:
    key = form_key(hosts[0].test_client())
    answers = [press(each.test_client(), key, 1) for each in hosts]
    assert [answer.status_code for answer in answers] == [303, 303]
    assert len({answer.headers["Location"] for answer in answers}) == 1


def test_a_ticket_is_its_phones_at_the_other_host(
    hosts: tuple[Flask, Flask], services: Services
) -> None:
    mine = ticket(services.rounds.find("apple"), "buyer")
    with hosts[0].test_request_context():
        signed = form_keys.sign(mine)
        read = form_keys.read(signed)
    with hosts[1].test_request_context():
        assert form_keys.read(signed) == read


def test_a_secret_that_was_given_up_is_not_accepted(services: Services, settings: Settings) -> None:
    services.rounds.start("apple", "watch", 10, {})
    before, after = host(settings, STEPS[0]), host(settings, STEPS[3])
    mine = ticket(services.rounds.find("apple"), "buyer")
    with before.test_request_context():
        signed = form_keys.sign(mine)
    with after.test_request_context(), pytest.raises(Invalid):
        form_keys.read(signed)
