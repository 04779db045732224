"""Records that chaos reads from the store match the audit, if none is forged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import redis
from sqlalchemy import text

from app.bootstrap import Services
from app.config import Settings
from app.domain import Stands
from app.store import dead_letters
from app.store.keys import Keys
from loadtest.chaos.state_reader import StateReader, StoredUnits
from tests.support.holds import LONG
from tests.support.purchases import fulfil_all, mode, order

RUNS_ON = ["valkey"]
pytestmark = pytest.mark.usefixtures("database_url")
over_postgresql = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)


@pytest.fixture
def finder(services: Services, settings: Settings) -> StateReader:
    url = services.engine.url.render_as_string(hide_password=False)
    return StateReader(lambda: redis.Redis.from_url(settings.redis_url), url)


def sold_and_held(services: Services, name: str) -> int:
    """Pay one of ten units, hold two, hold and return three; return the round's number."""
    round = services.rounds.start("apple", name, 10, {"hold": LONG})
    paid, held, back = (order(round, quantity=units) for units in (1, 2, 3))
    for each in (paid, held, back):
        mode(services, round).sell(each)
    services.holds.pay(paid)
    services.holds.give_up(back, Stands.CANCELLED)
    fulfil_all(services.fulfil)
    return round.number


@pytest.mark.parametrize("name", ["atomic", "sql"])
def test_what_is_left_and_held(services: Services, finder: StateReader, name: str) -> None:
    number = sold_and_held(services, name)
    assert finder.look("apple", number, name) == StoredUnits(7, 2, marked=False)
    services.rounds.end("apple")
    assert finder.look("apple", number, name) == StoredUnits(7, 2, marked=False)
    audit = services.auditor.audit(services.rounds.find("apple"))
    assert (audit.left, audit.held, audit.sold) == (7, 2, 1)


@over_postgresql
def test_units_that_are_rows(services: Services, finder: StateReader) -> None:
    number = sold_and_held(services, "sql_units")
    assert finder.look("apple", number, "sql_units") == StoredUnits(7, 2, marked=False)


def test_a_hold_that_is_booked_is_sold(services: Services, finder: StateReader) -> None:
    number = sold_and_held(services, "atomic")
    with services.engine.begin() as sql:  # as after a failover that forgets a payment
        id = sql.execute(text("SELECT id FROM orders")).scalar_one()
    sale = replace(order(services.rounds.find("apple")), id=id).encode()
    services.store.hset(Keys("apple", number).held, id, sale)
    assert finder.look("apple", number, "atomic") == StoredUnits(7, 2, marked=False)


def test_a_round_of_which_the_store_knows_a_loss(services: Services, finder: StateReader) -> None:
    number = sold_and_held(services, "atomic")
    services.store.set(Keys("apple", number).lacks, "{}")
    assert finder.look("apple", number, "atomic") == StoredUnits(7, 2, marked=True)


def test_what_cannot_be_told(services: Services, finder: StateReader) -> None:
    number = sold_and_held(services, "atomic")
    assert finder.look("apple", number + 1, "atomic") is None
    assert finder.look("apple", number, "sql") is None
    names = Keys("apple", number)
    dead_letters.add(services.store, names, _written(services, names), {}, "why", 0, "")
    assert finder.look("apple", number, "atomic") is None
    services.store.hset(names.held, "broken", b"?")
    assert finder.look("apple", number, "atomic") is None


def _written(services: Services, names: Keys) -> bytes:
    """Add an entry to the round's stream that is not a sale; return it as fulfil has read it."""
    services.store.xadd(names.sales, {"sale": "?"})
    found: Any = services.store.xreadgroup("fulfil", "c", {names.sales: ">"})
    return bytes(found[0][1][0][0])
