"""Races that are forced, not hoped for: both buyers have read before either writes."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from app.bootstrap import Services
from app.domain import Outcome
from app.modes import Way
from tests.support.command_hooks import lease_runs_out
from tests.support.purchases import NAMES, SOUND, HandClock, Once, at_once, fulfil_all, mode, order
from tests.support.servers import until

RUNS_ON = ["valkey"]


def race(services: Services, name: str, key: str | None = None) -> list[Outcome]:
    """Two buyers, one unit. Each waits, where it first sleeps, for the other to get as far.

    A mode with a gap sleeps in it; a buyer that waits for a lock sleeps between polls. A script
    never sleeps, and there neither buyer waits for the other.
    """
    round = services.rounds.start("apple", name, 1, {})
    meet = threading.Barrier(2, timeout=10)
    sellers = [mode(services, round, HandClock(Once(meet.wait))) for _ in range(2)]
    sales = at_once([partial(seller.sell, order(round, key=key)) for seller in sellers])
    fulfil_all(services.fulfil)
    return sorted(sale.outcome for sale in sales)


# A seller that waits for a row or a file waits inside the database, where no hook reaches: see
# test_sql.py.
RACED = [name for name in SOUND if name != "sql_lock"]


@pytest.mark.again
def test_naive_sells_one_apple_twice_every_time(services: Services) -> None:
    assert race(services, "naive") == [Outcome.SOLD, Outcome.SOLD]
    audit = services.auditor.audit(services.rounds.find("apple"))
    assert (audit.verdict, audit.oversold, audit.left) == ("oversold", 1, 0)
    assert audit.sentence == "Sold 2 of 1. 1 customer will be disappointed."


def test_naive_buys_twice_with_one_key(services: Services) -> None:
    """The exhibit cannot keep this: its check of the key and its write are two steps."""
    assert race(services, "naive", key="k") == [Outcome.SOLD, Outcome.SOLD]
    assert services.auditor.audit(services.rounds.find("apple")).duplicate_keys == 1


@pytest.mark.parametrize("name", RACED)
def test_the_others_sell_it_once(services: Services, name: str) -> None:
    assert race(services, name) == [Outcome.SOLD, Outcome.SOLD_OUT]
    audit = services.auditor.audit(services.rounds.find("apple"))
    assert (audit.verdict, audit.sold, audit.left) == ("exact", 1, 0)


@pytest.mark.parametrize("name", RACED)
def test_the_others_buy_once_with_one_key(services: Services, name: str) -> None:
    assert race(services, name, key="k") == [Outcome.SOLD, Outcome.SOLD]  # one sale, reported twice
    audit = services.auditor.audit(services.rounds.find("apple"))
    assert (audit.sold, audit.duplicate_keys) == (1, 0)


def test_watch_counts_its_conflict(services: Services) -> None:
    round = services.rounds.start("apple", "watch", 5, {})
    other = mode(services, round)
    seller = mode(services, round, HandClock(Once(lambda: other.sell(order(round)))))
    sale = seller.sell(order(round))
    assert (sale.outcome, sale.left, sale.attempts, sale.conflicts) == (Outcome.SOLD, 3, 2, 1)


def test_watch_gives_up_after_its_attempts(services: Services) -> None:
    round = services.rounds.start("apple", "watch", 100, {"attempts": 3})
    other = mode(services, round)
    seller = mode(services, round, HandClock(lambda: other.sell(order(round))))
    sale = seller.sell(order(round))
    assert (sale.outcome, sale.attempts, sale.conflicts) == (Outcome.BUSY, 3, 3)
    assert sale.left


def test_a_lease_that_the_work_outlives_oversells(services: Services) -> None:
    """The lock runs out while A thinks; B enters, sells the same unit; A's blind write follows."""
    round = services.rounds.start("apple", "lock:lease", 1, {})
    second = mode(services, round)
    stolen: list[Outcome] = []

    def outlive_the_lease() -> None:
        lease_runs_out(services, f"{{apple}}:{round.number}:lock")
        stolen.append(second.sell(order(round)).outcome)

    sale = mode(services, round, HandClock(Once(outlive_the_lease))).sell(order(round))
    fulfil_all(services.fulfil)
    assert [sale.outcome, *stolen] == [Outcome.SOLD, Outcome.SOLD]
    assert sale.lock_lost, "the release must notice, and the buyer keeps the sale"
    assert services.auditor.audit(round).oversold == 1


@pytest.mark.parametrize("name", ["lock:lease", "watched_blind", "watched", "fenced"])
def test_a_lock_that_is_held_makes_the_impatient_busy(services: Services, name: str) -> None:
    round = services.rounds.start("apple", name, 5, {"wait": 300})
    services.store.set(f"{{apple}}:{round.number}:lock", "somebody else")
    sale = mode(services, round).sell(order(round))
    assert sale.outcome is Outcome.BUSY
    assert sale.attempts > 1
    assert services.store.get(f"{{apple}}:{round.number}:lock") == b"somebody else"


def test_who_waits_for_a_lock_when_the_round_ends_buys_nothing_in_it(services: Services) -> None:
    """Neither the holder, whose write comes too late, nor the buyers behind it."""
    old = services.rounds.start("apple", "lock:lease", 10, {})
    queue = threading.Event()

    def end_the_round_when_the_others_wait() -> None:
        queue.wait(10)
        services.rounds.end("apple")

    polls = threading.Semaphore(0)

    def poll() -> None:
        polls.release()

    holder = mode(services, old, HandClock(Once(end_the_round_when_the_others_wait)))
    others = [mode(services, old, HandClock(Once(poll))) for _ in range(3)]
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(holder.sell, order(old))
        until(lambda: services.store.exists(f"{{apple}}:{old.number}:lock"))
        rest = [pool.submit(each.sell, order(old)) for each in others]
        for _ in others:
            assert polls.acquire(timeout=10)
        queue.set()
        assert {each.result(10).outcome for each in [first, *rest]} == {Outcome.ROUND_OVER}
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(services.rounds.find("apple", old.number))
    assert (audit.verdict, audit.sold, audit.left) == ("exact", 0, 10)


THINKING = [name for name in NAMES if not Way.of(name).mode.no_think]


# The next round waits for a sql_lock buyer that thinks: see test_one_key.py.
@pytest.mark.parametrize("name", [name for name in THINKING if name != "sql_lock"])
def test_a_switch_in_mid_sale_mixes_no_audit(services: Services, name: str) -> None:
    """The round ends while a buyer thinks. Its sale counts in the old round, or not at all."""
    old = services.rounds.start("apple", name, 10, {"think": 1})

    def switch() -> None:
        services.rounds.start("apple", "atomic", 10, {})

    sale = mode(services, old, HandClock(Once(switch))).sell(order(old))
    fulfil_all(services.fulfil)
    before = services.auditor.audit(services.rounds.find("apple", old.number))
    after = services.auditor.audit(services.rounds.find("apple"))
    assert (after.verdict, after.sold, after.left) == ("untouched", 0, 10)
    assert before.verdict == "exact"
    assert before.sold == (1 if sale.outcome is Outcome.SOLD else 0) == 10 - before.left


@pytest.mark.parametrize("name", [name for name in THINKING if not Way.of(name).in_database])
def test_nobody_sells_from_a_stock_that_was_set_after_the_end(
    services: Services, name: str
) -> None:
    """A blind writer has set it again after the round's end; the next seller comes late."""
    old = services.rounds.start("apple", name, 10, {"think": 1})
    under_way = mode(services, old, HandClock(Once(lambda: services.rounds.end("apple"))))
    under_way.sell(order(old))
    assert mode(services, old).sell(order(old)).outcome is Outcome.ROUND_OVER
