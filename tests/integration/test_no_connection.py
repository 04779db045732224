"""A PostgreSQL that accepts no more connections: purchases are BUSY; readiness says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace

import psycopg
import pytest
from servers.waiting import wait

from app.bootstrap import Services
from app.config import Settings
from app.domain import Outcome
from tests.support.purchases import IN_DATABASE
from tests.support.servers import PostgresServer

pytestmark = pytest.mark.usefixtures("database_url")
RUNS_ON = ["valkey"]
ADVICE = "Raise PostgreSQL's max_connections"


@contextmanager
def full(url: str, left: int = 0) -> Iterator[None]:
    """Take all connections that a user may have, except `left` of them.

    A connection that its owner has closed may come free only when its process in PostgreSQL has
    ended: so it is taken too.
    """
    with ExitStack() as stack:
        taken = [stack.enter_context(psycopg.connect(url))]
        [[most]] = taken[0].execute("SHOW max_connections").fetchall()
        assert wait(lambda: _take(url, stack, taken) == int(most), 30), "others keep connections"
        for connection in taken[:left]:
            connection.close()
        yield


def _take(url: str, stack: ExitStack, taken: list[psycopg.Connection]) -> int:
    with suppress(psycopg.OperationalError):
        while True:
            taken.append(stack.enter_context(psycopg.connect(url)))
    return len(taken)


@pytest.fixture
def database_url(own_postgres: PostgresServer) -> str:
    return own_postgres.database()


@pytest.fixture
def shop(services: Services) -> Services:
    services.migrate()
    return services


@pytest.mark.parametrize("name", IN_DATABASE)
def test_a_purchase_that_gets_no_connection_is_busy(
    shop: Services, settings: Settings, name: str
) -> None:
    shop.rounds.start("apple", name, 5, {})
    host = Services(settings)  # which has no connection yet
    buyer = host.purchase()
    buyer.running("apple")
    buyer.reporter.stop()  # its threads use connections, too
    host.engine.dispose()
    shop.engine.dispose()
    with full(settings.database):
        assert buyer.buy("apple", 1).sale.outcome is Outcome.BUSY
    host.store.close()
    host.engine.dispose()


def test_readiness_names_the_setting(shop: Services, settings: Settings) -> None:
    [database] = [each for each in shop.readiness.look().checks if "database" in each.name]
    assert database.state == "ok"
    shop.engine.dispose()
    with full(settings.database):
        failing = Services(settings).readiness._database()
    assert (failing.state, ADVICE in failing.sentence) == ("failing", True)
    with full(settings.database, left=3):
        [unwell] = Services(settings).readiness.connections()
    assert (unwell.state, ADVICE in unwell.sentence) == ("unwell", True)
    many = Services(replace(settings, shop_workers=16, shop_threads=32))
    [unwell] = many.readiness.connections()
    assert "may take 144" in unwell.sentence
