"""The same with the orders in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import delete

from app.bootstrap import Services
from app.config import Settings
from app.domain import WrongPair
from app.store import loss_marks
from app.store.sql.orders import OrderRow
from tests.integration.trust.sellers import killed, sold
from tests.support.purchases import fulfil_all
from tests.support.servers import PostgresServer, StoreServer, until

Hosts = tuple[Services, Services]


@pytest.fixture
def hosts(
    server: StoreServer, postgres: PostgresServer, postgres_tables: str, settings: Settings
) -> Iterator[Hosts]:
    """Two hosts with one store, and a database each."""
    first, second = (
        Services(
            Settings(
                server.url,
                postgres.database(postgres_tables),
                var_dir=settings.var_dir,
                store_timeout=3_000,
            )
        )
        for _ in range(2)
    )
    first.store.flushall()
    yield first, second
    for host in (first, second):
        host.store.connection_pool.disconnect()
        host.engine.dispose()


def test_one_store_and_two_databases(hosts: Hosts) -> None:
    first, second = hosts
    first.rounds.start("apple", "sql", 10, {})
    with pytest.raises(WrongPair, match="Correct DATABASE_URL"):
        second.rounds.start("apple", "sql", 10, {})
    second.consistency.pair("apple")
    with pytest.raises(WrongPair, match="Correct DATABASE_URL"):
        first.rounds.start("apple", "sql", 10, {})


@pytest.mark.parametrize("mode", ["atomic", "sql", "sql_units"])
def test_orders_are_lost(hosts: Hosts, mode: str) -> None:
    services, _ = hosts
    round = services.rounds.start("apple", mode, 10, {})
    worker = services.purchase()
    sold(worker, 3)
    fulfil_all(services.fulfil)
    until(lambda: loss_marks.booked(services.store, "apple") == {round.number: 3})
    killed(services, worker)
    with services.engine.begin() as sql:
        sql.execute(delete(OrderRow))
    said = "The database has lost orders of apple, round 1: it confirmed 3 to the store, and has 0."
    lack = services.consistency.look("apple")
    assert lack
    assert lack.what == said
    plan = services.mend.do("apple")
    assert plan
    assert len(plan.orders.back) == (3 if mode == "atomic" else 0)
    assert services.auditor.audit(round).orders_lost == 3 - len(plan.orders.back)
    assert services.rounds.start("apple", mode, 10, {}).number == 2
