"""db_unique: one inserts, one takes over, by the database's clock; on both databases."""

from __future__ import annotations

import threading
import time

import pytest
from sqlalchemy import insert, select, text, update

from app.bootstrap import Services
from app.domain import Clock, DatabaseAway
from app.locks.db_unique import DbUnique
from app.store.sql.named_locks import LockRow, Now
from tests.support.purchases import at_once, fulfil_all, mode, order
from tests.support.servers import until
from tests.support.sql_hooks import before_statement

RUNS_ON = ["valkey"]  # it plays no part here
pytestmark = [
    pytest.mark.usefixtures("database_url"),
]
KEY = "{apple}:1:lock"


def lock(services: Services, lease: float = 10.0, clock: Clock | None = None) -> DbUnique:
    return DbUnique(services.servers.database, KEY, lease, clock=clock or Clock())


def leave_behind(services: Services, seconds: float) -> None:
    """Leave the row of a holder that died; its lease ends `seconds` from now."""
    with services.engine.begin() as sql:
        sql.execute(insert(LockRow).values(name=KEY, owner="dead", until=Now() + seconds))


def test_the_databases_clock_is_right(services: Services) -> None:
    with services.engine.connect() as sql:
        assert sql.scalar(select(Now())) == pytest.approx(time.time(), abs=1.0)


def race(services: Services, mark: str) -> list[bool]:
    """Let two find the lock free, or expired, and stop before their write at the same time."""
    locks = [lock(services), lock(services)]
    meet = threading.Barrier(2, timeout=10)
    with before_statement(services, mark, hand=meet.wait):
        won = at_once([each.attempt for each in locks])
    assert [each.owned() for each in locks] == won
    return sorted(won)


def test_of_two_who_insert_one_holds(services: Services) -> None:
    assert race(services, "INSERT INTO locks") == [False, True]


def test_of_two_who_take_over_one_holds(services: Services) -> None:
    leave_behind(services, -1)
    assert race(services, "UPDATE locks") == [False, True]


def test_nobody_takes_over_from_the_living(services: Services) -> None:
    """Both see an old lease; before the second writes, its holder has extended it."""
    leave_behind(services, -1)

    def extend() -> None:
        with services.engine.begin() as sql:
            sql.execute(update(LockRow).values(until=Now() + 60, owner="risen"))

    with before_statement(services, "INSERT INTO locks", hand=extend):
        assert not lock(services).acquire(blocking=False)


def test_the_clock_of_the_machine_does_not_matter(services: Services) -> None:
    class Ahead(Clock):
        def now(self) -> float:
            return super().now() + 3600

        def wall(self) -> float:
            return super().wall() + 3600

    leave_behind(services, 60)
    assert not lock(services, clock=Ahead()).acquire(blocking=False)


def test_it_says_whose_it_is(services: Services) -> None:
    mine, other = lock(services), lock(services)
    assert not mine.locked()
    assert mine.acquire(wait_s=10)
    assert (mine.owned(), other.owned(), other.locked()) == (True, False, True)
    assert mine.release()
    assert (mine.owned(), mine.locked()) == (False, False)


def test_extended_while_it_is_mine(services: Services) -> None:
    mine, other = lock(services, lease=1), lock(services)
    assert mine.acquire(wait_s=10)
    assert mine.extend(30)
    assert not mine.lost
    assert not other.acquire(wait_s=1.2), "longer than the first lease"
    assert mine.extend(0.01)
    assert other.acquire(wait_s=5)
    assert not mine.extend(30)
    assert mine.lost
    assert mine.counts.losses == 1
    assert other.owned()


def test_over_is_not_mine_any_more_though_nobody_has_taken_it(services: Services) -> None:
    late = lock(services, lease=0.05)
    assert late.acquire(wait_s=10)
    until(lambda: not late.locked())
    assert not late.release()
    assert lock(services).acquire(wait_s=0), "its row is there for the next one to take over"


def test_a_database_that_is_away_is_said_so(services: Services) -> None:
    held = lock(services)
    assert held.acquire(wait_s=10)
    with services.engine.begin() as sql:
        sql.execute(text("ALTER TABLE locks RENAME TO elsewhere"))
    for deed in (lock(services).attempt, held.release, held.owned):
        with pytest.raises(DatabaseAway):
            deed()


def test_sells_what_there_is(services: Services) -> None:
    round = services.rounds.start("apple", "lock:db_unique", 10, {"wait": 50_000})
    seller = mode(services, round)
    at_once([lambda: seller.sell(order(round)) for _ in range(12)])
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.sold, audit.left) == ("exact", 10, 0)
