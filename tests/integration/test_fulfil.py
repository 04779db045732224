"""Sales reach the database exactly once, whichever process dies on the way."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, select, text

from app.bootstrap import Services
from app.domain import DatabaseAway, Round
from app.service import fulfil as fulfilling
from app.service.fulfil import Fulfil
from app.store.keys import Keys
from app.store.rounds import GROUP
from app.store.sql import db, orders
from tests.support.purchases import fulfil_all, in_stream, mode, order
from tests.support.servers import PostgresServer, until

pytestmark = pytest.mark.usefixtures("database_url")


@pytest.fixture
def sold(services: Services) -> Round:
    """A round with seven sales in its stream."""
    round = services.rounds.start("apple", "atomic", 10, {})
    seller = mode(services, round)
    for number in range(7):
        seller.sell(order(round, key=f"k{number}"))
    return round


def rows(services: Services) -> int:
    with services.servers.sessions() as session:
        return session.scalar(select(func.count()).select_from(orders.OrderRow)) or 0


def test_sales_become_orders_and_leave_the_store(services: Services, sold: Round) -> None:
    fulfil_all(services.fulfil)
    keys = Keys("apple", sold.number)
    assert rows(services) == 7
    assert services.store.xlen(keys.sales) == 0
    assert not list(services.store.scan_iter("{apple}:order:*"))
    lives = [services.store.ttl(keys.key(f"k{number}")) for number in range(7)]
    assert all(24 * 3600 - 60 < life <= 24 * 3600 for life in lives)


def test_a_batch_of_thousands_leaves_the_store_as_a_small_one(services: Services) -> None:
    """More than Lua hands over in one call."""
    round = services.rounds.start("apple", "atomic", 2_001, {})
    seller = mode(services, round)
    for _ in range(2_001):
        seller.sell(order(round))
    fulfil_all(
        Fulfil(services.store, services.servers.sessions, 10_000, services.consistency.pairing)
    )
    assert rows(services) == 2_001
    keys = list(services.store.scan_iter("{apple}:key:*", count=1_000))
    assert len(keys) == 2_001
    assert all(services.store.ttl(key) > 0 for key in (keys[0], keys[-1]))
    assert not list(services.store.scan_iter("{apple}:order:*", count=1_000))
    names = Keys("apple", round.number)
    assert not services.store.xlen(names.sales)
    assert not services.store.xpending(names.sales, GROUP)["pending"]


def test_a_sale_without_a_key_is_found_under_its_id_for_a_day(services: Services) -> None:
    """A buyer that got a 503 was given that key."""
    round = services.rounds.start("apple", "atomic", 10, {})
    mode(services, round).sell(order(round))
    fulfil_all(services.fulfil)
    assert rows(services) == 1
    [key] = services.store.scan_iter("{apple}:key:*")
    assert 24 * 3600 - 60 < services.store.ttl(key) <= 24 * 3600


def test_small_batches_move_everything(services: Services, sold: Round) -> None:
    fulfil_all(Fulfil(services.store, services.servers.sessions, 2, services.consistency.pairing))
    assert rows(services) == 7


def test_what_a_dead_one_left_behind_is_taken_over(
    services: Services, sold: Round, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read by a consumer that was killed before its commit."""
    monkeypatch.setattr(fulfilling, "LEFT_BEHIND", 60_000)
    keys = Keys("apple", sold.number)
    services.store.xreadgroup(GROUP, "dead", {keys.sales: ">"}, count=5)
    fulfil_all(Fulfil(services.store, services.servers.sessions, 500, services.consistency.pairing))
    assert rows(services) == 2, "the dead one's are left alone while it may be alive"
    monkeypatch.setattr(fulfilling, "LEFT_BEHIND", 0)
    fulfil_all(Fulfil(services.store, services.servers.sessions, 500, services.consistency.pairing))
    assert rows(services) == 7
    assert services.store.xlen(keys.sales) == 0


def test_what_was_committed_and_not_acknowledged_is_not_inserted_twice(
    services: Services, sold: Round, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read by a consumer that was killed between its commit and its acknowledgement."""
    monkeypatch.setattr(fulfilling, "LEFT_BEHIND", 0)
    keys = Keys("apple", sold.number)
    committed = in_stream(services, sold)[:5]
    services.store.xreadgroup(GROUP, "dead", {keys.sales: ">"}, count=5)
    with services.servers.sessions.begin() as session:
        orders.insert_missing(session, committed)
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(sold)
    assert (audit.verdict, audit.orders, audit.duplicate_ids) == ("exact", 7, 0)


def test_the_audit_sees_a_sale_written_twice(services: Services, sold: Round) -> None:
    """A client that resends does this: the same order id twice in the stream."""
    keys = Keys("apple", sold.number)
    services.store.xadd(keys.sales, {"sale": in_stream(services, sold)[0].encode()})
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(sold)
    assert (audit.verdict, audit.duplicate_ids) == ("inconsistent", 1)


def test_the_audit_sees_an_order_that_nobody_sold(services: Services, sold: Round) -> None:
    fulfil_all(services.fulfil)
    with services.servers.sessions.begin() as session:
        orders.insert_missing(session, [replace(order(sold), item="apple")])
    audit = services.auditor.audit(sold)
    assert audit.orders_without_sale == 1
    assert audit.verdict != "exact"


def test_the_audit_sees_units_that_nobody_has(services: Services, sold: Round) -> None:
    fulfil_all(services.fulfil)
    services.store.decrby(Keys("apple", sold.number).stock, 2)
    audit = services.auditor.audit(sold)
    assert (audit.verdict, audit.undersold) == ("undersold", 2)
    assert audit.sentence == "Sold 7 of 10, 1 left: 2 units are missing."


def test_dead_consumers_and_old_streams_are_forgotten(
    services: Services, sold: Round, monkeypatch: pytest.MonkeyPatch
) -> None:
    fulfil_all(services.fulfil)
    keys = Keys("apple", sold.number)
    services.rounds.end("apple")
    monkeypatch.setattr(fulfilling, "TIDY", -1.0)
    monkeypatch.setattr(fulfilling, "STREAM_LIFE", -1)
    time.sleep(0.01)
    services.fulfil.consumers[0].tidy([keys])
    assert services.store.xinfo_consumers(keys.sales, GROUP) == []
    assert services.store.smembers("{apple}:streams") == set()


def test_the_counters_of_a_round_long_ended_are_forgotten(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    round = services.rounds.start("apple", "atomic", 10, {"per_buyer": 2})
    for buyer in "AAB":
        mode(services, round).sell(order(round, buyer=buyer))
    fulfil_all(services.fulfil)
    monkeypatch.setattr(fulfilling, "STREAM_LIFE", -1)
    names, tidy = Keys("apple", round.number), services.fulfil.consumers[0].tidy
    tidy([names])
    assert services.store.get(names.bought("A")) == b"2", "it still sells"
    services.rounds.end("apple")
    time.sleep(0.01)
    tidy([names])
    assert services.store.keys("*bought*") == []


def test_what_can_still_be_paid_for_is_booked_however_wrong_our_clock_is(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    round = services.rounds.start("apple", "atomic", 10, {"hold": 600_000})
    hold = order(round)
    mode(services, round).sell(hold)
    services.rounds.end("apple")
    tidy, names = services.fulfil.consumers[0].tidy, Keys("apple", round.number)
    with monkeypatch.context() as ahead:
        now = time.time()
        ahead.setattr(time, "time", lambda: now + 25 * 3600)
        tidy([names])
    monkeypatch.setattr(fulfilling, "STREAM_LIFE", -1)
    time.sleep(0.01)
    for _ in range(2):  # not entered yet; entered
        tidy([names])
        services.holds.look(hold)
    services.holds.pay(hold)
    fulfil_all(services.fulfil)
    assert services.order_lookup.find(hold.id).confirmed


def test_a_running_rounds_stream_is_never_forgotten(
    services: Services, sold: Round, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fulfilling, "STREAM_LIFE", -1)
    services.fulfil.consumers[0].tidy([Keys("apple", sold.number)])
    assert services.store.smembers("{apple}:streams") == {b"1"}


def test_sales_wait_while_the_database_is_away(services: Services, sold: Round) -> None:
    """Its table is gone, then comes back: nothing is lost, nothing is doubled."""
    with services.engine.begin() as connection:
        connection.execute(text("ALTER TABLE orders RENAME TO elsewhere"))
    stop = threading.Event()
    thread = threading.Thread(target=services.fulfil.run, args=(stop,))
    thread.start()
    try:
        keys = Keys("apple", sold.number)
        until(lambda: services.store.xpending(keys.sales, GROUP)["pending"] == 7)
        assert services.store.xlen(keys.sales) == 7
        with services.engine.begin() as connection:
            connection.execute(text("ALTER TABLE elsewhere RENAME TO orders"))
        until(lambda: services.store.xlen(keys.sales) == 0)
    finally:
        stop.set()
        thread.join(10)
    assert rows(services) == 7


def test_a_database_that_is_not_there_is_said_so(postgres: PostgresServer, tmp_path: Path) -> None:
    nowhere = postgres.server.get_uri(database="nowhere")
    with pytest.raises(DatabaseAway, match="does not answer"):
        db.migrate(db.engine(nowhere, 500))
