"""Rounds that sell in the database: their stock, their end, the audit, and HTTP."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text

from app import create_lab
from app.bootstrap import Services
from app.config import Settings
from app.domain import DatabaseAway, Lacking, Outcome
from app.service.purchase import Purchase
from app.service.round_view import warnings
from app.store.keys import Keys
from tests.support.http_client import buy, form_key, problem
from tests.support.purchases import (
    IN_DATABASE,
    fulfil_all,
    mode,
    order,
    sold_exactly_while_switched,
)
from tests.support.sql_hooks import before_statement, held

pytestmark = pytest.mark.usefixtures("database_url")
RUNS_ON = ["valkey"]  # it is the database that sells
each = pytest.mark.parametrize("name", IN_DATABASE)
# Tests cannot close the application's own connections, and psycopg warns of unclosed ones.
over_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
MakeWorker = Callable[[], Purchase]


def gone(services: Services, table: str = "stock") -> None:
    with services.engine.begin() as sql:
        sql.execute(text(f"ALTER TABLE {table} RENAME TO elsewhere"))


def test_the_stock_is_in_the_database_and_not_in_the_store(services: Services) -> None:
    round = services.rounds.start("apple", "sql", 12, {})
    keys = Keys("apple", round.number)
    assert not services.store.exists(keys.stock, keys.sales)
    assert services.rounds.left(round) == 12
    assert {item.slug: left for item, _, left in services.rounds.shelf() if left} == {"apple": 12}
    services.rounds.end("apple")
    assert services.rounds.left(round) == 12
    assert not services.rounds.find("apple").running


def test_every_change_between_store_and_database(services: Services) -> None:
    names = ["atomic", "sql", "sql_lock", "watch", "sql_version", "atomic"]
    rounds = []
    for units, name in enumerate(names, 5):
        rounds.append(services.rounds.start("apple", name, units, {}))
        mode(services, rounds[-1]).sell(order(rounds[-1]))
    for round in rounds[:-1]:
        assert mode(services, round).sell(order(round)).outcome is Outcome.ROUND_OVER
    fulfil_all(services.fulfil)
    audits = [services.auditor.audit(round) for round in rounds]
    assert [(each.verdict, each.sold, each.left) for each in audits] == [
        ("exact", 1, units) for units in range(4, 10)
    ]


def test_many_starters_at_once_leave_one_round_running(services: Services) -> None:
    with ThreadPoolExecutor(8) as pool:
        started = list(
            pool.map(lambda n: services.rounds.start("apple", "sql", n, {}), range(1, 9))
        )
    assert sorted(round.number for round in started) == list(range(1, 9))
    assert [n for n in range(1, 9) if services.rounds.find("apple", n).running] == [8]
    for round in started:
        assert services.rounds.left(round) == round.stock
        sells = mode(services, round).sell(order(round)).outcome is Outcome.SOLD
        assert sells == (round.number == 8)


def test_after_a_store_was_emptied_no_old_stock_is_found(services: Services) -> None:
    services.rounds.start("apple", "sql", 5, {})
    services.store.flushall()
    with pytest.raises(Lacking):
        services.rounds.start("apple", "sql", 7, {})
    services.consistency.accept("apple")
    again = services.rounds.start("apple", "sql", 7, {})
    assert (again.number, services.rounds.left(again)) == (2, 7)


def test_the_row_is_there_before_anybody_can_see_the_round(services: Services) -> None:
    seen: list[bool] = []
    with before_statement(
        services,
        "INSERT INTO stock",
        hand=lambda: seen.append(services.rounds.newest("apple") is None),
    ):
        services.rounds.start("apple", "sql", 5, {})
    assert seen == [True]
    gone(services)
    with pytest.raises(DatabaseAway):
        services.rounds.start("apple", "sql", 6, {})
    with pytest.raises(DatabaseAway):  # which keys have bought is not known
        services.rounds.start("apple", "atomic", 6, {})
    assert services.rounds.find("apple").number == 1
    assert services.rounds.find("apple").running, "nothing half done"


def test_a_round_ends_although_somebody_holds_its_row(services: Services) -> None:
    round = services.rounds.start("apple", "sql", 5, {})
    with held(services, round):
        services.rounds.end("apple")
    assert not services.rounds.find("apple").running


def test_switches_under_load_mix_no_audits(services: Services, worker: MakeWorker) -> None:
    here = [name for name in IN_DATABASE if not services.rounds.missing(name)]
    names = [*here, "atomic", *here]
    sold_exactly_while_switched(services, [worker(), worker()], names)


@each
def test_the_audit_settles_when_the_sale_has_ended(
    services: Services, worker: MakeWorker, name: str
) -> None:
    round = services.rounds.start("apple", name, 10, {})
    shop = worker()
    selling, go_on = threading.Event(), threading.Event()

    def stop_here() -> None:
        selling.set()
        go_on.wait(10)

    with before_statement(services, "INSERT INTO orders", hand=stop_here):
        buyer = threading.Thread(target=shop.buy, args=("apple", 2))
        buyer.start()
        assert selling.wait(10)
        audit = services.auditor.audit(round)
        assert (audit.verdict, audit.in_flight, audit.sold, audit.left) == ("settling", 1, 0, 10)
        go_on.set()
        buyer.join(10)
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.sold, audit.orders, audit.left) == ("exact", 2, 1, 8)


@pytest.mark.parametrize("names", [("sql", "atomic"), ("atomic", "sql"), ("sql", "sql_lock")])
def test_a_key_finds_its_sale_after_a_switch(
    services: Services, worker: MakeWorker, names: tuple[str, str]
) -> None:
    """The answer was lost, the mode was switched, the buyer tries again."""
    services.rounds.start("apple", names[0], 10, {})
    first = worker().buy("apple", 2, key="k")
    old, new = services.rounds.find("apple"), services.rounds.start("apple", names[1], 10, {})
    shop = worker()  # that never knew the old round
    assert shop.buy("apple", 2, key="k").sale.order == first.sale.order
    assert (services.rounds.left(old), services.rounds.left(new)) == (8, 10)
    services.rounds.end("apple")
    assert shop.buy("apple", 2, key="k").sale.order == first.sale.order


def test_think_time_in_a_mode_without_a_gap_is_said_so(services: Services) -> None:
    assert "no gap" in warnings(services.rounds.start("apple", "sql", 5, {"think": 50}))[0]
    assert not warnings(services.rounds.start("apple", "sql_lock", 5, {"think": 50}))


@over_sqlite
@each
def test_over_http(services: Services, shop: FlaskClient, settings: Settings, name: str) -> None:
    services.rounds.start("apple", name, 3, {"wait": 100})
    key = {"Idempotency-Key": "mine"}
    sold = buy(shop, {"quantity": 2}, **key).get_json()
    assert (sold["outcome"], sold["left"], sold["mode"]) == ("SOLD", 1, name)
    again = buy(shop, {"quantity": 2}, **key)
    assert (again.status_code, again.get_json()["order"]) == (201, sold["order"])
    problem(buy(shop, {"quantity": 1}, **key), 422)
    assert problem(buy(shop, {"quantity": 2}), 409)["left"] == 1
    assert shop.get(f"/orders/{sold['order']}").get_json()["state"] == "confirmed"
    assert "1 left" in shop.get("/", headers={"Accept": "text/html"}).text
    lab = create_lab(settings).test_client()
    assert lab.get("/rounds/apple").get_json()["left"] == 1
    with held(services, services.rounds.find("apple")):
        assert problem(buy(shop), 503)["outcome"] == "BUSY"
    audit = lab.get("/rounds/apple/2/audit").get_json()
    assert (audit["sold"], audit["orders"], audit["left"]) == (2, 1, 1)


@over_sqlite
def test_http_with_the_database_away(
    services: Services, shop: FlaskClient, settings: Settings
) -> None:
    """503 for a purchase, in JSON and on a page; the shelf and the items of the store stay open."""
    services.rounds.start("apple", "sql", 3, {})
    services.rounds.start("pear", "atomic", 4, {})
    key = form_key(shop)
    gone(services)
    away = buy(shop)
    assert problem(away, 503)["title"] == "The database is away"
    assert away.headers["Retry-After"] == "1"
    form = shop.post("/buy/apple", data={"quantity": "1", "key": key})
    assert (form.status_code, form.mimetype) == (503, "text/html")
    assert f'value="{key}"' in form.text
    items = {item["slug"]: item["left"] for item in shop.get("/items").get_json()}
    assert (items["apple"], items["pear"]) == (None, 4)
    assert buy(shop, item="pear").status_code == 201
    assert create_lab(settings).test_client().get("/rounds/apple").status_code == 503
