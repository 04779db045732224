"""Races in the database, forced: both have read before either writes; and every wait ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

import pytest
from sqlalchemy import text

from app.bootstrap import Services
from app.domain import Outcome, Round, Sale
from tests.support.purchases import IN_DATABASE, HandClock, Once, at_once, mode, order
from tests.support.servers import until
from tests.support.sql_hooks import (
    LOCKING,
    before_statement,
    held,
    on_postgresql,
    waiting_for_locks,
)

RUNS_ON = ["valkey"]  # it plays no part here
pytestmark = [
    pytest.mark.usefixtures("database_url"),
]
each = pytest.mark.parametrize("name", IN_DATABASE)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


def audited(services: Services, round: Round) -> tuple[str, int, int, int]:
    audit = services.auditor.audit(round)
    return audit.verdict, audit.sold, audit.orders, audit.left


@pytest.mark.parametrize("key", [None, "k"])
def test_sql_two_updates_at_once(services: Services, key: str | None) -> None:
    """Both are before their UPDATE while one unit is there. The WHERE lets one through."""
    round = services.rounds.start("apple", "sql", 1, {})
    seller = mode(services, round)
    meet = threading.Barrier(2, timeout=10)
    with before_statement(services, "UPDATE stock", hand=meet.wait):
        sales = at_once([lambda: seller.sell(order(round, key=key))] * 2)
    other = Outcome.SOLD if key else Outcome.SOLD_OUT  # the key's one sale, reported twice
    assert sorted(sale.outcome for sale in sales) == [Outcome.SOLD, other]
    assert len({sale.order for sale in sales if sale.order}) == 1
    assert audited(services, round) == ("exact", 1, 1, 0)


@pytest.mark.parametrize("key", [None, "k"])
def test_sql_one_key_pressed_twice_gives_its_units_back(
    services: Services, key: str | None
) -> None:
    """Both UPDATEs find units. The second's key is refused, and its rollback undoes its UPDATE."""
    round = services.rounds.start("apple", "sql", 10, {})
    seller = mode(services, round)
    meet = threading.Barrier(2, timeout=10)
    with before_statement(services, "UPDATE stock", hand=meet.wait):
        sales = at_once([lambda: seller.sell(order(round, key=key))] * 2)
    assert {sale.outcome for sale in sales} == {Outcome.SOLD}
    sold = 1 if key else 2
    assert len({sale.order for sale in sales}) == sold
    assert audited(services, round) == ("exact", sold, sold, 10 - sold)


def test_sql_lock_the_second_waits_and_then_sees_the_new_stock(
    services: Services, pool: ThreadPoolExecutor
) -> None:
    round = services.rounds.start("apple", "sql_lock", 2, {})
    second: list[Future[Sale]] = []
    asked: list[None] = []  # an entry for each seller that is about to take the lock

    def until_the_second_waits() -> None:
        """Without the lock the second would be through while the first one thinks."""
        second.append(pool.submit(mode(services, round).sell, order(round)))
        until(lambda: second[0].done() or len(asked) == 2)
        if on_postgresql(services):
            until(lambda: second[0].done() or waiting_for_locks(services) == 1)
        assert not second[0].done()

    with before_statement(services, *LOCKING, hand=lambda: asked.append(None)):
        first = mode(services, round, HandClock(Once(until_the_second_waits))).sell(order(round))
        after = second[0].result(10)
    assert (first.outcome, first.left) == (Outcome.SOLD, 1)
    assert (after.outcome, after.left) == (Outcome.SOLD, 0)
    assert audited(services, round) == ("exact", 2, 2, 0)


def test_sql_lock_the_second_finds_the_order_of_its_key(
    services: Services, pool: ThreadPoolExecutor
) -> None:
    round = services.rounds.start("apple", "sql_lock", 2, {})
    second: list[Future[Sale]] = []
    asked: list[None] = []

    def until_the_second_waits() -> None:
        second.append(pool.submit(mode(services, round).sell, order(round, key="k")))
        until(lambda: len(asked) == 2)

    with before_statement(services, *LOCKING, hand=lambda: asked.append(None)):
        seller = mode(services, round, HandClock(Once(until_the_second_waits)))
        assert seller.sell(order(round, key="k")).order == second[0].result(10).order
    assert audited(services, round) == ("exact", 1, 1, 1)


@pytest.mark.parametrize("key", [None, "k"])
def test_sql_version_both_have_read_before_either_writes(
    services: Services, key: str | None
) -> None:
    round = services.rounds.start("apple", "sql_version", 1, {})
    meet = threading.Barrier(2, timeout=10)
    sellers = [mode(services, round, HandClock(Once(meet.wait))) for _ in range(2)]
    sales = at_once([partial(seller.sell, order(round, key=key)) for seller in sellers])
    other = Outcome.SOLD if key else Outcome.SOLD_OUT
    assert sorted(sale.outcome for sale in sales) == [Outcome.SOLD, other]
    assert sorted(sale.conflicts for sale in sales) == [0, 1]
    assert audited(services, round) == ("exact", 1, 1, 0)


def test_sql_version_counts_its_conflict(services: Services) -> None:
    round = services.rounds.start("apple", "sql_version", 5, {})
    other = mode(services, round)
    seller = mode(services, round, HandClock(Once(lambda: other.sell(order(round)))))
    sale = seller.sell(order(round))
    assert (sale.outcome, sale.left, sale.attempts, sale.conflicts) == (Outcome.SOLD, 3, 2, 1)


def test_sql_version_gives_up_after_its_attempts(services: Services) -> None:
    round = services.rounds.start("apple", "sql_version", 100, {"attempts": 3})
    other = mode(services, round)
    seller = mode(services, round, HandClock(lambda: other.sell(order(round))))
    sale = seller.sell(order(round))
    assert (sale.outcome, sale.attempts, sale.conflicts) == (Outcome.BUSY, 3, 3)
    assert sale.left


@each
@pytest.mark.parametrize("wait", [0, 300])
def test_who_waits_for_row_or_file_longer_than_his_patience_is_busy(
    services: Services, name: str, wait: int
) -> None:
    """SQLite answers SQLITE_BUSY, PostgreSQL a lock timeout; neither is a failure of ours."""
    round = services.rounds.start("apple", name, 5, {"wait": wait})
    seller = mode(services, round)
    with held(services, round):
        start = time.monotonic()
        assert seller.sell(order(round)).outcome is Outcome.BUSY
        took = time.monotonic() - start
    assert wait / 1000 * 0.8 < took < 15, "not as long as a page, which waits for 30 s"
    assert seller.sell(order(round)).outcome is Outcome.SOLD
    assert audited(services, round) == ("exact", 1, 1, 4)


@each
def test_a_sellers_short_patience_is_not_left_to_the_next_one(
    services: Services, name: str
) -> None:
    """The connection goes back to the pool: the next page's query waits as long as ever."""
    round = services.rounds.start("apple", name, 5, {"wait": 0})
    mode(services, round).sell(order(round))
    asked = "SHOW lock_timeout" if on_postgresql(services) else "PRAGMA busy_timeout"
    with services.engine.connect() as page:
        assert page.scalar(text(asked)) in ("30s", 30_000)
