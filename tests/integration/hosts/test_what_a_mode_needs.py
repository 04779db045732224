"""A host that lacks what a running round's mode needs says so, and sells nothing of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from app.domain import NotOnSale, Round
from app.service.purchase import Purchase
from app.store import rounds
from tests.integration.hosts.conftest import NewHost
from tests.support.command_line import environ_of, invoke
from tests.support.http_client import buy

RUNS_ON = ["valkey"]

LACKING = [
    ("lock:redlock", "This host cannot sell in lock:redlock: REDLOCK_URLS is not set."),
    ("lock:zookeeper", "This host cannot sell in lock:zookeeper: ZOOKEEPER_HOSTS is not set."),
    ("sql_units", "This host cannot sell in sql_units: SQLite cannot lock single rows:"),
]


def start(services: Services, mode: str) -> None:
    """Start a round as a host that has all of it does."""
    services.consistency.pairing.require("apple")
    round = replace(Round("apple", 0, 10, mode), masters="a,b,c" if "redlock" in mode else "")
    rounds.start(services.store, round, 0, lambda *_: True, in_store=mode != "sql_units")


@pytest.mark.parametrize(("mode", "said"), LACKING)
def test_it_is_not_ready_and_refuses(
    services: Services, settings: Settings, mode: str, said: str
) -> None:
    shop = create_shop(settings).test_client()
    assert shop.get("/readyz").status_code == 200
    start(services, mode)
    [failing] = [each for each in services.readiness._checks() if each.state == "failing"]
    assert failing.sentence.startswith(said)
    for headers in ({}, {"Idempotency-Key": "key"}):
        answer = buy(shop, **headers)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
        problem = answer.get_json()
        assert problem["type"].endswith("#cannot-sell")
        assert "idempotency_key" not in problem
        assert problem["detail"] == (
            "This server cannot sell this item right now. Nothing was sold: try again in a moment."
        )
    page = shop.post("/buy/apple", data={"quantity": "1"}, headers={"Accept": "text/html"})
    assert (page.status_code, "Nothing was sold" in page.text) == (503, True)
    assert shop.get("/", headers={"Accept": "text/html"}).status_code == 200
    start(services, "atomic")
    assert buy(shop).status_code == 201, "as soon as another round runs"


def test_check_says_so(services: Services, settings: Settings) -> None:
    start(services, "lock:redlock")
    checked = invoke("check", **environ_of(settings))
    assert checked.exit_code == 1
    assert f"failing  rounds: {LACKING[0][1]}" in checked.stdout


def test_other_items_sell(services: Services, worker: Callable[[], Purchase]) -> None:
    start(services, "lock:redlock")
    services.rounds.start("pear", "atomic", 10, {})
    shop = worker()
    with pytest.raises(NotOnSale):  # a phone of the class asks so, and gets its page
        shop.running("apple")
    assert shop.buy("pear", 1).sale.order


def test_a_host_that_has_it_is_ready(new_host: NewHost) -> None:
    """The settings decide whether it has it; whether ZooKeeper answers is another question."""
    host = new_host(zookeeper_hosts="127.0.0.1:1")
    start(host, "lock:zookeeper")
    assert not [each for each in host.readiness._checks() if each.name == "rounds"]
