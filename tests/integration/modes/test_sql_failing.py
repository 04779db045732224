"""Sales in the database while it fails: BUSY or DatabaseAway, and never half a sale."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import insert, text, update

from app.bootstrap import Services
from app.config import Settings
from app.domain import DatabaseAway, Outcome
from app.store.sql.stock import Receipt, StockRow
from tests.support import killed_sellers
from tests.support.forked_process import Forked
from tests.support.purchases import IN_DATABASE, Once, at_once, mode, order
from tests.support.servers import until
from tests.support.sql_hooks import before_statement, held, rows, waiting_for_locks

RUNS_ON = ["valkey"]  # it plays no part here
pytestmark = [
    pytest.mark.usefixtures("database_url"),
]
each = pytest.mark.parametrize("name", IN_DATABASE)
only_postgresql = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)


@each
def test_a_database_that_does_not_answer_is_away(services: Services, name: str) -> None:
    round = services.rounds.start("apple", name, 5, {})
    seller = mode(services, round)
    with services.engine.begin() as sql:
        sql.execute(text("ALTER TABLE stock RENAME TO elsewhere"))
    with pytest.raises(DatabaseAway):
        seller.sell(order(round))
    with services.engine.begin() as sql:
        sql.execute(text("ALTER TABLE elsewhere RENAME TO stock"))
    assert seller.sell(order(round)).outcome is Outcome.SOLD
    assert services.rounds.left(round) == 4


@only_postgresql
@each
def test_a_connection_cut_in_mid_sale(services: Services, name: str) -> None:
    round = services.rounds.start("apple", name, 5, {})
    seller = mode(services, round)

    def cut_all_others() -> None:
        with services.engine.connect() as killer:
            killer.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )

    with (
        before_statement(services, "INSERT INTO orders", hand=Once(cut_all_others)),
        pytest.raises(DatabaseAway),
    ):
        seller.sell(order(round))
    assert (rows(services), services.rounds.left(round)) == (0, 5)
    assert seller.sell(order(round)).outcome is Outcome.SOLD


@only_postgresql
@each
def test_a_frozen_database_is_given_up(settings: Settings, services: Services, name: str) -> None:
    """It keeps none of its own timeouts. When it wakes up, it undoes what it had begun."""
    hasty = Services(replace(settings, database_timeout=300))
    round = hasty.rounds.start("apple", name, 5, {"wait": 200})
    seller = mode(hasty, round)
    backend: list[int] = []

    def freeze() -> None:
        with services.engine.connect() as looker:
            found = looker.scalar(
                text(
                    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
                    "AND state = 'idle in transaction' AND pid <> pg_backend_pid()"
                )
            )
        assert found
        backend.append(found)
        os.kill(found, signal.SIGSTOP)

    start = time.monotonic()
    try:
        with (
            before_statement(hasty, "INSERT INTO orders", hand=Once(freeze)),
            pytest.raises(DatabaseAway),
        ):
            seller.sell(order(round))
        assert time.monotonic() - start < 20, "0.3 s is its time-out; for ever it would take else"
    finally:
        os.kill(backend[0], signal.SIGCONT)
    until(lambda: seller.sell(order(round)).outcome is Outcome.SOLD)
    assert (rows(hasty), hasty.rounds.left(round)) == (1, 4)
    hasty.engine.dispose()


@only_postgresql
@each
def test_a_deadlock_is_busy(services: Services, name: str) -> None:
    """The seller has the row and wants the key; another session has the key and wants the row."""
    round = services.rounds.start("apple", name, 5, {})
    seller = mode(services, round)
    with services.engine.connect() as other, ThreadPoolExecutor(1) as pool:
        other.execute(text("SET deadlock_timeout = '60s'"))  # so that the seller notices it
        other.execute(insert(Receipt).values(item="apple", key="k", order="another"))
        sale = pool.submit(seller.sell, order(round, key="k"))
        until(lambda: waiting_for_locks(services) == 1)
        other.execute(update(StockRow).values(version=7))
        assert sale.result(10).outcome is Outcome.BUSY
    assert (rows(services), services.rounds.left(round)) == (0, 5)


@only_postgresql
@pytest.mark.parametrize("name", ["sql", "sql_version"])
def test_a_serialization_failure_is_busy(services: Services, name: str) -> None:
    """Where the database's owner has made transactions serializable, the second cannot go on."""
    with services.engine.begin() as sql:
        database = sql.scalar(text("SELECT current_database()"))
        sql.execute(
            text(f"ALTER DATABASE {database} SET default_transaction_isolation = 'serializable'")
        )
    services.engine.dispose()  # the setting is for new connections
    round = services.rounds.start("apple", name, 5, {})
    seller = mode(services, round)
    meet = threading.Barrier(2, timeout=10)
    with before_statement(services, "UPDATE stock", hand=meet.wait):
        sales = at_once([lambda: seller.sell(order(round))] * 2)
    assert sorted(sale.outcome for sale in sales) == [Outcome.BUSY, Outcome.SOLD]
    assert (rows(services), services.rounds.left(round)) == (1, 4)


@each
def test_a_seller_killed_in_mid_sale_leaves_nothing_behind(
    services: Services, settings: Settings, name: str
) -> None:
    """Killed after taking the stock, before the order. The next buyer gets the row at once."""
    round = services.rounds.start("apple", name, 5, {})
    seller = Forked(killed_sellers.with_the_stock_taken, settings)
    assert seller.says() == "the stock is taken"
    impatient = mode(services, replace(round, wait=0))
    everything = order(round, quantity=5)
    assert impatient.sell(everything).outcome is Outcome.BUSY, "it holds a row, or the file"
    seller.close()
    assert (rows(services), services.rounds.left(round)) == (0, 5)
    assert mode(services, round).sell(order(round, key="k")).outcome is Outcome.SOLD
    assert services.rounds.left(round) == 4
    assert services.auditor.audit(round).verdict == "exact"


@each
def test_more_threads_than_connections(settings: Settings, services: Services, name: str) -> None:
    """A seller without a free connection waits for one; none meets the pool's timeout."""
    few = Services(replace(settings, shop_workers=40, shop_threads=64))  # two sellers per worker
    round = few.rounds.start("apple", name, 40, {"attempts": 1000, "wait": 50_000})
    seller = mode(few, round)
    sales = at_once([lambda: seller.sell(order(round)) for _ in range(64)])
    assert {sale.outcome for sale in sales} == {Outcome.SOLD, Outcome.SOLD_OUT}
    assert few.auditor.audit(round).sold == 40
    few.engine.dispose()


@each
def test_while_all_sellers_wait_pages_are_served(
    settings: Settings, services: Services, name: str
) -> None:
    """And a seller that finds no free connection within its patience is BUSY, too."""
    few = Services(replace(settings, shop_workers=40, shop_threads=64))
    round = few.rounds.start("apple", name, 40, {"wait": 2_000})
    seller = mode(few, round)
    with held(services, round), ThreadPoolExecutor(16) as pool:
        waiting = [pool.submit(seller.sell, order(round)) for _ in range(16)]
        assert few.rounds.left(round) == 40
        assert not all(each.done() for each in waiting), "the page waited for no seller"
        assert {each.result(30).outcome for each in waiting} == {Outcome.BUSY}
    few.engine.dispose()
