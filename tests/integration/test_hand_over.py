"""From one round to the next, while purchases are under way and things break: no key buys twice,
and every answer says what happened.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest
import redis
from fairlock import queue
from fairlock.connections import connections as real_connections
from fairlock.scripts import RELEASE
from sqlalchemy import text

from app import create_lab
from app.bootstrap import Services
from app.config import Settings
from app.domain import NotOnSale, Outcome, StockHeld, StoreAway
from app.service.purchase import Purchase
from app.store import sales
from app.store.keys import Keys
from app.store.sql import db
from tests.support.command_hooks import Buyer, Handed
from tests.support.purchases import IN_DATABASE, Once, fulfil_all, mode, order
from tests.support.servers import until
from tests.support.sql_hooks import on_postgresql, rows

pytestmark = pytest.mark.usefixtures("database_url")
RUNS_ON = ["valkey"]
MakeWorker = Callable[[], Purchase]


@pytest.mark.usefixtures("wired")
def test_decr_notes_nothing_in_an_ended_round(services: Services, worker: MakeWorker) -> None:
    """The next one sells the key in the database, of which the store knows nothing yet."""
    old = services.rounds.start("apple", "decr", 10, {})

    def switch() -> None:
        services.rounds.start("apple", "sql", 5, {})
        assert worker().buy("apple", 1, key="k").sale.outcome is Outcome.SOLD

    sale = Handed(mode(services, old), {"EVALSHA": Once(switch)}).sell(order(old, key="k"))
    assert sale.outcome is Outcome.ROUND_OVER
    fulfil_all(services.fulfil)
    assert (rows(services), services.dead_letters.every()) == (1, [])
    for number in (1, 2):
        assert services.auditor.audit(services.rounds.find("apple", number)).verdict == "exact"


@contextmanager
def cut_at_the_release(monkeypatch: pytest.MonkeyPatch, deed: Callable[[], None]) -> Iterator[None]:
    """Run `deed` after the sale, and let the release fail at first."""
    connections, once = real_connections, Once(deed)

    class Cut:
        def __init__(self, mine: Any) -> None:
            self.mine = mine

        def call(self, script: Any, keys: Any, args: Any) -> Any:
            if script is RELEASE and not once.done:
                once()
                raise redis.ConnectionError("cut")
            return self.mine.call(script, keys, args)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.mine, name)

    with monkeypatch.context() as patch:
        patch.setattr(queue, "connections", lambda *to: Cut(connections(*to)))
        yield


@pytest.mark.parametrize("then", ["sql", "atomic", ""])
def test_who_leaves_his_round_after_his_sale_is_told_of_that_sale(
    services: Services, worker: MakeWorker, monkeypatch: pytest.MonkeyPatch, then: str
) -> None:
    """Without a key the buyer could not look for it."""
    old = services.rounds.start("apple", "lock:queue", 10, {"think": 1})
    shop = worker()

    def go_on() -> None:
        if then:
            services.rounds.start("apple", then, 10, {})
        else:
            services.rounds.end("apple")
        here = shop.running_rounds.selling
        until(lambda: "apple" not in here or here["apple"].round != old)

    with cut_at_the_release(monkeypatch, go_on):
        answer = shop.buy("apple", 1)
    assert (answer.sale.outcome, answer.round.number) == (Outcome.SOLD, 1)
    fulfil_all(services.fulfil)
    assert rows(services) == 1
    audit = services.auditor.audit(services.rounds.find("apple", 1))
    assert (audit.verdict, audit.sold, audit.left) == ("exact", 1, 9)


def test_a_start_that_fails_leaves_the_old_round_ended(
    services: Services, worker: MakeWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The start reports it; the next start continues where it stopped."""
    services.rounds.start("apple", "sql", 10, {})
    first = worker().buy("apple", 1, key="k").sale.order

    def away(*_: object) -> None:
        raise redis.TimeoutError

    with monkeypatch.context() as patch:
        patch.setattr(sales, "remember", away)
        with pytest.raises(StoreAway):
            services.rounds.start("apple", "atomic", 10, {})
    assert not services.rounds.find("apple").running
    with pytest.raises(NotOnSale):
        worker().buy("apple", 1)
    services.rounds.start("apple", "atomic", 10, {})
    assert worker().buy("apple", 1, key="k").sale.order == first


def test_what_a_worker_has_counted_outlasts_a_slow_hand_over(
    services: Services, worker: MakeWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its countdown begins after the hand-over."""
    old, shop = services.rounds.start("apple", "sql", 10, {}), worker()
    for _ in range(3):
        shop.buy("apple", 1)
    remember, closed = sales.remember, threading.Event()

    def slowly(store: Any, orders: Any) -> None:
        closed.set()
        time.sleep(1)
        remember(store, orders)

    monkeypatch.setattr(sales, "remember", slowly)
    begun = services.rounds.now()
    with ThreadPoolExecutor(1) as pool:
        starting = pool.submit(services.rounds.start, "apple", "atomic", 10, {"delay": 1})
        assert closed.wait(10)  # the old round is over; until then it sells
        while not starting.done():
            with suppress(NotOnSale):
                order = shop.buy("apple", 1).sale.order
                assert order is None or order.round != old.number, "the new one may just begin"
            time.sleep(0.1)
    assert starting.result().started - begun >= 1_000
    until(lambda: services.auditor.audit(old).settled)
    audit = services.auditor.audit(old)
    assert (audit.verdict, audit.answers["SOLD"]) == ("exact", audit.sold)


@pytest.mark.parametrize("name", IN_DATABASE)
def test_a_round_under_load_hands_over(services: Services, worker: MakeWorker, name: str) -> None:
    """SQLite has no queue for its file: sellers must leave before the end of the round gets it."""
    stop, shop = threading.Event(), worker()
    services.rounds.start("apple", name, 20_000, {"think": 50})

    def buy(_: int) -> None:
        while not stop.is_set():
            try:
                shop.buy("apple", 1)
            except NotOnSale:
                time.sleep(0.01)

    with ThreadPoolExecutor(16) as pool:
        buyers = [pool.submit(buy, number) for number in range(16)]
        try:
            until(lambda: rows(services) > 3, 30)
            new = services.rounds.start("apple", "atomic", 100_000, {})
            until(lambda: services.rounds.left(new) != new.stock)
        finally:
            stop.set()
        for buyer in buyers:
            buyer.result(30)
    fulfil_all(services.fulfil)
    for number in (1, 2):
        assert services.auditor.audit(services.rounds.find("apple", number)).verdict == "exact"


def test_a_letter_whose_units_were_put_back_is_not_booked(services: Services) -> None:
    """Even if the ledger has lost the receipt: the units may be another buyer's by now."""
    round = services.rounds.start("apple", "atomic", 1, {})
    mode(services, round).sell(order(round, key="k"))
    fulfil_all(services.fulfil)
    services.store.delete(Keys("apple", 1).key("k"))
    services.store.incr(Keys("apple", 1).stock)
    mode(services, round).sell(order(round, key="k"))
    fulfil_all(services.fulfil)
    [letter] = services.dead_letters.every()
    with services.engine.begin() as sql:
        sql.execute(text("DELETE FROM receipts"))
    assert "back in stock" in services.dead_letters.retry(letter)
    assert rows(services) == 1


def test_a_key_whose_round_the_store_has_lost_finds_its_order(
    services: Services, worker: MakeWorker
) -> None:
    round = services.rounds.start("apple", "atomic", 10, {})
    first = mode(services, round).sell(order(round, key="k")).order
    services.store.delete(Keys("apple", 1).record)
    for name in ("sql", "atomic"):
        services.rounds.start("apple", name, 10, {})
        answer = worker().buy("apple", 1, key="k")
        assert (answer.sale.order, first and first.round) == (first, 1)


def test_what_is_asked_for_a_key_is_counted(services: Services, worker: MakeWorker) -> None:
    services.rounds.start("apple", "sql", 10, {})
    assert worker().buy("apple", 1, key="k").wire.round_trips == 1
    assert worker().buy("apple", 1).wire.round_trips == 0


def test_tables_of_half_a_million_orders_may_be_brought_up_to_date(services: Services) -> None:
    """One statement of a migration may take longer than those of a shop may."""
    with services.engine.begin() as sql:
        if on_postgresql(services):  # SQLite has no such limit
            sql.execute(text("SET LOCAL statement_timeout = 50"))
        db.take_time(sql)
        if on_postgresql(services):
            sql.execute(text("SELECT pg_sleep(0.2)"))


def test_a_thinker_in_the_database_goes_out_when_his_round_ends(
    services: Services, worker: MakeWorker
) -> None:
    """It would hold the row for a minute, and the next round would wait for it."""
    old = services.rounds.start("apple", "sql_lock", 10, {"think": 60_000})
    with ThreadPoolExecutor(1) as pool:
        thinker = pool.submit(worker().buy, "apple", 1)
        until(lambda: services.auditor.audit(old).in_flight == 1)
        services.rounds.start("apple", "atomic", 10, {})
        told = thinker.exception(10)  # where the new one has not begun yet: not on sale
    assert told is None or isinstance(told, NotOnSale)
    assert services.rounds.left(old) == 10


def test_who_holds_the_row_for_too_long_is_named(
    services: Services, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A frozen worker: the start does not wait forever, and works when that worker is gone."""
    old = services.rounds.start("apple", "sql_lock", 10, {"think": 1})
    frozen = Buyer(services, old)
    monkeypatch.setattr("app.service.database_ledger.LAST_SALE_S", 0.5)
    with pytest.raises(StockHeld):
        services.rounds.start("apple", "atomic", 10, {})
    lab = create_lab(settings).test_client()
    wanted = {"mode": "atomic", "stock": "10"}
    html = {"Accept": "text/html"}
    for answer in (
        lab.post("/rounds", json={"item": "apple", "mode": "atomic", "stock": 10}),
        lab.post("/rounds", data={"item": "apple", **wanted}, headers=html),
        lab.post("/classroom/sale", data=wanted, headers=html),
    ):
        assert answer.status_code == 409, answer.text
        assert "A purchase of the round before still holds its stock." in answer.text
    assert not services.rounds.find("apple").running
    sold = frozen.finish().order
    new = services.rounds.start("apple", "atomic", 10, {})
    again = mode(services, new).sell(replace(order(new), key=sold.key if sold else ""))
    assert again.order == sold
