"""Holds that cannot be settled or put back: each costs a line and a pause, and blocks no other."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from sqlalchemy import delete, insert, update

from app.bootstrap import Services
from app.domain import Order, Outcome, Round
from app.service.purchase import Purchase
from app.store.keys import Keys
from app.store.sql import holds as sql_holds
from app.store.sql.holds import HoldRow
from app.store.sql.stock import StockRow
from tests.support.holds import LONG, counted
from tests.support.purchases import mode, order

RUNS_ON = ["valkey"]
BATCH = 500


def held(services: Services, round: Round, quantity: int = 1, buyer: str = "") -> Order:
    made = order(round, quantity, buyer=buyer)
    assert mode(services, round).sell(made).outcome is Outcome.SOLD
    return made


def unreadable(services: Services, round: Round, count: int) -> None:
    """Add holds of a newer version, which this version cannot read."""
    keys = Keys(round.item, round.number)
    pipe = services.store.pipeline()
    for n in range(count):
        sale = json.dumps({"id": f"bad-{n}", "key": f"bad-{n}", "version": 99})
        pipe.hset(keys.held, f"bad-{n}", sale)
        pipe.zadd(keys.due, {f"bad-{n}": 1})
    pipe.execute()


def run_out(services: Services, *holds: Order) -> None:
    """Let their deadline pass, a millisecond later than that of the unreadable ones."""
    for hold in holds:
        services.holds.look(hold)
        services.store.zadd(Keys(hold.item, hold.round).due, {hold.id: 2})


def left(services: Services, round: Round) -> int | None:
    return services.rounds.left(round)


@pytest.mark.parametrize("count", [100, BATCH + 1])
def test_unreadable_holds_in_front_block_no_other(
    services: Services, caplog: pytest.LogCaptureFixture, count: int
) -> None:
    round = services.rounds.start("apple", "atomic", 10, {"hold": LONG})
    good = [held(services, round) for _ in range(4)]
    unreadable(services, round, count)
    run_out(services, *good)
    assert services.sweep.sweep() == 4
    assert left(services, round) == 10
    for _ in range(3):
        services.sweep.sweep()
    said = [line for line in caplog.messages if "bad-" in line]
    assert len(said) <= -(-count // BATCH), said


def test_the_pause_of_a_bad_hold_grows(services: Services) -> None:
    """Each try finds it twice as long after its deadline, up to a limit."""
    round = services.rounds.start("apple", "atomic", 10, {"hold": LONG})
    keys = Keys("apple", round.number)
    unreadable(services, round, 1)
    pauses = []
    for overdue in (0, 3_000, 6_000, 1_000_000):
        now = services.rounds.now()
        services.store.set(keys.hold("bad-0"), f"EXPIRED {now - overdue}")
        services.store.zadd(keys.due, {"bad-0": now})
        services.sweep.sweep()
        pauses.append((services.store.zscore(keys.due, "bad-0") or 0) - now)
    assert pauses == sorted(pauses)
    assert pauses[0] >= 1_000
    assert 3_000 <= pauses[1] < pauses[2] < pauses[3]


def test_they_do_not_disable_the_buyers_own_sweep(
    services: Services, worker: Callable[[], Purchase]
) -> None:
    round = services.rounds.start("apple", "atomic", 10, {"hold": LONG})
    good = held(services, round, 10)
    unreadable(services, round, 25)
    run_out(services, good)
    assert worker().buy("apple", 1).sale.outcome is Outcome.HELD


@pytest.mark.parametrize("what", ["bought", "hold"])
def test_a_broken_key_of_one_hold_blocks_no_other(services: Services, what: str) -> None:
    """Its buyer's counter, or its ending, is broken: the units still come back, and only once."""
    round = services.rounds.start("apple", "atomic", 10, {"hold": LONG, "per_buyer": 5})
    keys = Keys("apple", round.number)
    bad, *good = [held(services, round, 2, buyer=f"b{n}") for n in range(3)]
    run_out(services, bad, *good)
    broken = keys.bought(bad.buyer) if what == "bought" else keys.hold(bad.id)
    services.store.delete(broken)
    services.store.rpush(broken, "no number")
    for _ in range(2):
        services.sweep.sweep()
        services.store.zadd(keys.due, {bad.id: 1}, xx=True)
    assert left(services, round) == 10


def test_a_batch_that_another_has_put_back_in_part_comes_back_once(services: Services) -> None:
    round = services.rounds.start("apple", "atomic", 10, {"hold": LONG})
    first, second = held(services, round, 2), held(services, round, 3)
    run_out(services, first, second)
    assert services.holds.look(first)
    for _ in range(2):
        services.holds.put_back(round, [first, second])
    assert left(services, round) == 10


@pytest.mark.parametrize("database_url", ["sqlite", "postgresql"], indirect=True)
def test_a_lost_round_in_the_database_blocks_no_other(
    services: Services, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    apple = services.rounds.start("apple", "sql", 5, {"hold": LONG})
    pear = services.rounds.start("pear", "sql", 3, {"hold": LONG})
    good, other = held(services, pear, 3), held(services, apple, 2)
    with services.servers.sessions.begin() as sql:
        row = sql_holds.taken(apple, good, services.servers.clock.now).compile().params
        lost = {"item": "apple", "round": 99, "until": 1}
        for n in range(130):
            sql.execute(insert(HoldRow).values(**row | lost | {"id": f"lost-{n}"}))
        sql.execute(update(HoldRow).where(HoldRow.round != 99).values(until=2))
    assert services.sweep.sweep() == 2
    assert (counted(services, pear), counted(services, apple)) == ((3, 0, 0), (5, 0, 0))
    for _ in range(3):
        services.sweep.sweep()
    assert len([line for line in caplog.messages if "round 99" in line]) == 1
    assert other.round == apple.number


def test_what_nobody_can_put_back_is_not_taken_for_a_hold_that_is_back(
    services: Services, caplog: pytest.LogCaptureFixture
) -> None:
    """The stock's row is lost: the hold stays owed, and the others' units come back."""
    apple = services.rounds.start("apple", "sql", 5, {"hold": LONG})
    pear = services.rounds.start("pear", "sql", 3, {"hold": LONG})
    bad, good = held(services, apple, 2), held(services, pear, 3)
    with services.servers.sessions.begin() as sql:
        sql.execute(update(HoldRow).values(until=1))
        sql.execute(delete(StockRow).where(StockRow.item == "apple"))
    for _ in range(3):
        services.sweep.sweep()
    assert counted(services, pear) == (3, 0, 0)
    hold = services.holds.look(bad)
    assert hold
    assert hold.owed
    assert good.round == pear.number
    said = [line for line in caplog.messages if "lost" in line and "apple" in line]
    assert said
