"""A store and a database of the first version are opened and sold from."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from flask.testing import FlaskClient
from sqlalchemy import text

from app import create_lab, create_shop
from app.bootstrap import Services
from app.config import Settings
from app.domain import Order
from app.lab.comparison.record import Comparison
from app.lab.stampede.record import Run
from app.service.classroom.roll import ClassMember
from app.service.worker_status import worker_statuses
from app.store import keys
from app.store.keys import COMPARISONS, Keys, RunKeys
from app.store.rounds import GROUP
from app.store.sql import db, stock
from tests.support import first_records
from tests.support.http_client import buy
from tests.support.purchases import fulfil_all

RUNS_ON = ["valkey"]
PAGE = {"Accept": "text/html"}
REVISION = "0012"  # the newest of that time
STARTED = 1_790_000_000_000
OLD = "01990000-0000-7000-8000-00000000000"  # orders' ids without their last digit
ROWS = [
    "orders (id, item, round, quantity, price, buyer, key, at, confirmed)"
    " VALUES (:id, 'pear', 1, 3, 75, 'a-buyer', 'b-key', :at, '2026-09-21 14:13:20')",
    "receipts (item, key, \"order\") VALUES ('pear', 'b-key', :id)",
    "stock (item, round, started, units, version, ended) VALUES ('pear', 1, :at, 57, 0, false)",
    "runs (id, item, mode, started, how, record, events, comparison)"
    " VALUES ('apple-9876543210', 'apple', 'naive', :at, 'finished', :run, '[]', '')",
    "comparisons (id, started, record) VALUES ('comparison-9876543210', :at, :comparison)",
]


@pytest.fixture
def old(settings: Settings, services: Services) -> Services:
    """The services over that version's data: apples sold from the store, pears from SQL."""
    store = services.store
    names, pears = Keys("apple", 1), Keys("pear", 1)
    store.set(names.record, first_records.ROUND)
    store.set(names.stock, 8)
    store.xadd(names.sales, {"sale": first_records.ORDER})
    store.xgroup_create(names.sales, GROUP, id="0")
    store.set(names.order(f"{OLD}1"), first_records.ORDER)
    store.set(names.key("a-key"), first_records.ORDER)
    store.sadd(keys.streams("apple"), 1)
    store.set(pears.record, first_records.SQL_ROUND)
    for item in ("apple", "pear"):
        store.set(keys.newest(item), 1)
    store.hset(names.workers, "a-worker", first_records.POST)
    store.hset(keys.class_roll("apple"), "a-worker", first_records.ROLL)
    store.set(keys.class_sale("apple"), 1)
    store.set(RunKeys("apple", "apple-0123456789").ended, first_records.RUN)
    store.set(RunKeys(COMPARISONS, "comparison-0123456789").ended, first_records.COMPARISON)
    _tables_of_that_time(settings)
    told = {"id": f"{OLD}2", "at": STARTED, "comparison": first_records.COMPARISON.decode()}
    told["run"] = first_records.RUN.decode().replace("apple-0123456789", "apple-9876543210")
    with services.engine.begin() as sql:
        for row in ROWS:
            sql.execute(text(f"INSERT INTO {row}"), told)  # our own
    services.migrate()
    return services


def _tables_of_that_time(settings: Settings) -> None:
    """Replace today's tables, which the test's database was copied from."""
    engine = db.engine(settings.database, 30_000)
    Path(str(engine.url.database)).write_bytes(b"")
    config = Config()
    config.set_main_option("script_location", str(db.MIGRATIONS))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, REVISION)
    engine.dispose()


@pytest.fixture
def shop(old: Services, settings: Settings) -> FlaskClient:
    return create_shop(settings).test_client()


@pytest.fixture
def lab(old: Services, settings: Settings) -> FlaskClient:
    return create_lab(settings).test_client()


def test_the_shop_sells_on(shop: FlaskClient, old: Services) -> None:
    apple, pear, *_ = shop.get("/items").get_json()
    assert [(each["left"], each["round"]) for each in (apple, pear)] == [(8, 1), (57, 1)]
    recorded = shop.get(f"/orders/{OLD}1").get_json()
    assert (recorded["state"], recorded["request"]) == ("recorded", "a-request")
    fulfil_all(old.fulfil)
    for last in "12":
        assert shop.get(f"/orders/{OLD}{last}").get_json()["state"] == "confirmed"
    assert buy(shop, item="pear").get_json()["left"] == 56
    assert buy(shop, item="apple").get_json()["left"] == 7
    assert shop.get("/", headers=PAGE).status_code == 200


def test_who_asks_again_finds_the_sale(shop: FlaskClient) -> None:
    sent = {"quantity": 2}
    with shop.session_transaction() as session:
        session["buyer"] = "a-buyer"
    assert buy(shop, sent, **{"Idempotency-Key": "a-key"}).get_json()["order"] == f"{OLD}1"


def test_the_books_know_its_keys(old: Services) -> None:
    with old.servers.sessions() as session:
        found = stock.bought(session, "pear", "b-key")
    assert found
    assert found.id == f"{OLD}2"


def test_the_lab_shows_all_of_it(lab: FlaskClient, old: Services) -> None:
    for path in (
        *("/", "/stampede", "/compare", "/history", "/classroom", "/rounds/apple/1"),
        *("/rounds/pear/1", "/runs/apple-0123456789", "/runs/apple-9876543210"),
        *("/comparisons/comparison-0123456789", "/comparisons/comparison-9876543210"),
    ):
        assert lab.get(path, headers=PAGE).status_code == 200, path
    fulfil_all(old.fulfil)
    audit = lab.get("/rounds/apple/1/audit").get_json()
    assert (audit["verdict"], audit["sold"], audit["answers"]["SOLD"]) == ("exact", 2, 1)
    assert lab.post("/rounds/pear/end").status_code == 303
    wanted = {"item": "apple", "stock": 3, "mode": "atomic"}
    assert lab.post("/rounds", json=wanted).get_json()["round"] == 2


def test_each_record_is_read_as_it_was_meant(old: Services) -> None:
    assert old.rounds.find("apple", 1).mode == "lock:lease"
    assert Order.decode(first_records.ORDER).at == STARTED + 5
    run = Run.decode(first_records.RUN)
    assert (run.round.number, run.how, run.audit and run.audit.sold) == (7, "finished", 12)
    compared = Comparison.decode(first_records.COMPARISON)
    assert (compared.machine.version, compared.results[0].lasted_s) == ("0.1.0", 2)
    assert worker_statuses(old.store, old.rounds.find("apple", 1))[0].answers == {"SOLD": 1}
    old.store.hset(
        keys.class_roll("apple"), "a-worker", first_records.ROLL.replace(b"1790", b"9790")
    )
    here = [ClassMember("a-buyer", "Ann", 9_790_000_000_000, 9_790_000_000_009)]
    assert old.members.present() == here
