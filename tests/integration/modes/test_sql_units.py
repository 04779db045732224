"""Rows of units: sellers that lock them, skip them, or wait for them, and the rows' states."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

import pytest
from sqlalchemy import select, update

from app.bootstrap import Services
from app.domain import DatabaseAway, Invalid, Outcome, Round, RoundLeft, Sale, Stands
from app.modes.sql_units import SqlUnits
from app.store.sql import holds as sql_holds
from app.store.sql import units
from app.store.sql.units import UnitRow
from tests.support.holds import LONG, counted
from tests.support.purchases import HandClock, Once, at_once, mode, order
from tests.support.servers import until
from tests.support.sql_hooks import waiting_for_locks

RUNS_ON = ["valkey"]  # it plays no part here
pytestmark = pytest.mark.usefixtures("database_url")
here = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
SOLD, SOLD_OUT, BUSY = Outcome.SOLD, Outcome.SOLD_OUT, Outcome.BUSY


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


def start(services: Services, stock: int, wait: int = 10_000) -> Round:
    return services.rounds.start("apple", "sql_units", stock, {"wait": wait})


def whose(services: Services, round: Round) -> list[str | None]:
    with services.engine.connect() as looker:
        rows = select(UnitRow.order).where(units.of(round)).order_by(UnitRow.n)
        return list(looker.scalars(rows))


def audited(services: Services, round: Round) -> tuple[str, int, int]:
    audit = services.auditor.audit(round)
    assert not audit.units_astray
    return audit.verdict, audit.sold, audit.left


@here
def test_who_comes_while_others_think_takes_the_next_rows(services: Services) -> None:
    round = start(services, 6, wait=300)
    others: list[Sale] = []

    def sell_to_others() -> None:
        others.extend(mode(services, round).sell(order(round, quantity=2)) for _ in range(2))

    first = order(round)
    assert mode(services, round, HandClock(Once(sell_to_others))).sell(first).outcome is SOLD
    assert [(sale.outcome, sale.attempts) for sale in others] == [(SOLD, 1)] * 2
    second, third = (sale.order.id for sale in others if sale.order)
    assert whose(services, round) == [first.id, second, second, third, third, None]
    assert audited(services, round) == ("exact", 5, 1)


@here
@pytest.mark.parametrize("sells", [True, False])
def test_who_finds_the_last_locked_waits_until_its_holder_has_done(
    services: Services, pool: ThreadPoolExecutor, sells: bool
) -> None:
    """Sold out means that units are sold, not that another seller has locked them."""
    round = start(services, 1)
    second: list[Future[Sale]] = []

    def until_the_second_waits() -> None:
        second.append(pool.submit(mode(services, round).sell, order(round)))
        until(lambda: second[0].done() or waiting_for_locks(services) == 1)
        assert not second[0].done()
        if not sells:
            raise RoundLeft

    first = mode(services, round, HandClock(Once(until_the_second_waits)))
    if sells:
        assert first.sell(order(round)).outcome is SOLD
    else:
        with pytest.raises(RoundLeft):
            first.sell(order(round))
    after = second[0].result(10)
    assert (after.outcome, after.attempts) == (SOLD_OUT if sells else SOLD, 2)
    assert after.left == (0 if sells else None)
    assert audited(services, round) == ("exact", 1, 0)


@here
def test_whose_patience_ends_before_he_knows_is_busy(services: Services) -> None:
    round = start(services, 1, wait=100)
    told: list[Sale] = []
    clock = HandClock(Once(lambda: told.append(mode(services, round).sell(order(round)))))
    assert mode(services, round, clock).sell(order(round)).outcome is SOLD
    assert (told[0].outcome, told[0].attempts, told[0].left) == (BUSY, 2, None)


@here
def test_who_waits_for_more_rows_locks_none(services: Services, pool: ThreadPoolExecutor) -> None:
    """Three units: two are locked, a second buyer wants two, a third one only one."""
    round = start(services, 3)
    second: list[Future[Sale]] = []
    third: list[Sale] = []

    def others_come() -> None:
        second.append(pool.submit(mode(services, round).sell, order(round, quantity=2)))
        until(lambda: waiting_for_locks(services) == 1)
        third.append(mode(services, round).sell(order(round)))

    clock = HandClock(Once(others_come))
    assert mode(services, round, clock).sell(order(round, quantity=2)).outcome is SOLD
    assert (third[0].outcome, third[0].attempts) == (SOLD, 1)
    assert (second[0].result(10).outcome, second[0].result().left) == (SOLD_OUT, 0)
    assert audited(services, round) == ("exact", 3, 0)


@here
def test_a_crowd_that_wants_different_quantities(services: Services) -> None:
    """No buyer gets BUSY, as in a deadlock of two; none gets SOLD_OUT while enough is left."""
    round = start(services, 40, wait=50_000)
    clock = HandClock(lambda: None)  # for some ms
    wanted = [order(round, quantity=1 + number % 4) for number in range(24)]
    sales = at_once([partial(mode(services, round, clock).sell, each) for each in wanted])
    told = list(zip(sales, wanted, strict=True))
    left = 40 - sum(each.quantity for sale, each in told if sale.outcome is SOLD)
    assert {sale.outcome for sale in sales} == {SOLD, SOLD_OUT}
    assert left < min(each.quantity for sale, each in told if sale.outcome is SOLD_OUT)
    assert audited(services, round) == ("exact", 40 - left, left)


@here
def test_one_key_pressed_twice_sets_its_second_row_free(services: Services) -> None:
    """Both have locked a row of their own. The second's key is refused, and it rolls back."""
    round = start(services, 5)
    meet = threading.Barrier(2, timeout=10)
    sellers = [mode(services, round, HandClock(Once(meet.wait))) for _ in range(2)]
    sales = at_once([partial(seller.sell, order(round, key="k")) for seller in sellers])
    assert {sale.outcome for sale in sales} == {SOLD}
    assert len({sale.order for sale in sales}) == 1
    assert audited(services, round) == ("exact", 1, 4)
    assert mode(services, round).sell(order(round, quantity=4)).outcome is SOLD


@here
def test_one_buyer_who_presses_twice_gets_no_more_than_his_limit(services: Services) -> None:
    """Under two keys. Both have locked rows, and neither sees the other's before it writes."""
    round = services.rounds.start("apple", "sql_units", 5, {"per_buyer": 2})
    meet = threading.Barrier(2, timeout=10)
    sellers = [mode(services, round, HandClock(Once(meet.wait))) for _ in range(2)]
    sales = at_once([partial(each.sell, order(round, 2, buyer="A")) for each in sellers])
    assert sorted((sale.outcome, sale.bought) for sale in sales) == [
        (Outcome.LIMIT, 2),
        (SOLD, None),
    ]
    assert audited(services, round) == ("exact", 2, 3)


@here
def test_a_round_does_not_end_under_those_who_think_in_it(services: Services) -> None:
    """They share the lock that the round's end must have: none of their sales comes after it."""
    round = start(services, 5)
    seen: list[object] = []

    def end() -> None:
        services.rounds.end("apple")
        seen.append(services.rounds.ledgers.of(round).close(round))
        seen.append(mode(services, round).sell(order(round)).outcome)

    assert mode(services, round, HandClock(Once(end))).sell(order(round)).outcome is SOLD
    assert seen == [False, SOLD]
    assert services.rounds.ledgers.of(round).close(round)
    late = [mode(services, round).sell(order(round, quantity=many)) for many in (1, 9)]
    assert {sale.outcome for sale in late} == {Outcome.ROUND_OVER}
    assert audited(services, services.rounds.find("apple")) == ("exact", 2, 3)


@here
def test_what_is_put_back_twice_is_counted_once(services: Services) -> None:
    """Freeing a row twice does no harm; counting it out of its buyer's limit twice would."""
    terms = {"hold": LONG, "per_buyer": 2}
    round = services.rounds.start("apple", "sql_units", 5, terms)
    seller, held = mode(services, round), order(round, 2, buyer="A")
    assert seller.sell(held).outcome is SOLD
    with services.servers.sessions.begin() as sql:
        sql_holds.settle(sql, held, Stands.CANCELLED, services.rounds.now())
    assert at_once([partial(services.holds.put_back, round, [held])] * 2) == [True, True]
    assert whose(services, round) == [None] * 5
    told = [seller.sell(order(round, 2, buyer="A")).outcome for _ in range(2)]
    assert told == [SOLD, Outcome.LIMIT]
    assert counted(services, round) == (3, 2, 0)


@here
def test_the_audit_holds_rows_against_orders(services: Services) -> None:
    """The number of marked rows matches the sales; only the orders' names differ."""
    round = start(services, 5)
    sold = mode(services, round).sell(order(round, quantity=2)).order
    assert sold
    with services.engine.begin() as sql:
        sql.execute(update(UnitRow).where(UnitRow.n == 2).values(order="nobody's"))
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.units_astray, audit.broken) == ("inconsistent", 2, 2)
    assert (audit.sold, audit.left) == (2, 3)


@here
def test_a_row_for_each_unit_and_no_more_than_that(services: Services) -> None:
    more = units.AT_ONCE + 1
    assert services.rounds.left(start(services, more)) == more
    with pytest.raises(Invalid) as refused:
        start(services, units.MOST + 1)
    assert str(refused.value) == "sql_units has a row for each unit: 100,000 are the most."
    assert services.rounds.find("apple").stock == more


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_on_sqlite_it_is_refused(services: Services) -> None:
    with pytest.raises(
        Invalid, match="SQLite cannot lock single rows: set DATABASE_URL"
    ) as refused:
        start(services, 5)
    assert list(refused.value.errors) == ["mode"]
    round = Round("apple", 1, 5, "sql_units")  # as if copied here from another database
    with pytest.raises(DatabaseAway, match="SQLite"):
        SqlUnits(services.servers, HandClock(lambda: None), round).sell(order(round))
