"""Each exhibit's flaw, forced to appear; the repaired modes withstand the very same race."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from app.bootstrap import Services
from app.domain import Outcome
from app.store.keys import Keys
from tests.support.command_hooks import Buyer, Handed, lease_runs_out
from tests.support.purchases import HandClock, Once, at_once, fulfil_all, mode, order

pytestmark = pytest.mark.usefixtures("wired")
RUNS_ON = ["valkey"]  # the contract tries each mode on each store

SOLD, SOLD_OUT, BUSY = Outcome.SOLD, Outcome.SOLD_OUT, Outcome.BUSY
BLIND_TO_OTHERS = ["read_before_watch", "watch_elsewhere"]


def overtaken(services: Services, name: str, key: str | None = None) -> list[Outcome]:
    """One unit. A reads; B buys it while A thinks; A writes."""
    round = services.rounds.start("apple", name, 1, {})
    told: list[Outcome] = []

    def buy() -> None:
        told.append(mode(services, round).sell(order(round, key=key)).outcome)

    seller = mode(services, round, HandClock(Once(buy)))
    told.append(seller.sell(order(round, key=key)).outcome)
    fulfil_all(services.fulfil)
    return told


@pytest.mark.parametrize("name", BLIND_TO_OTHERS)
def test_a_write_that_watch_does_not_see_oversells(services: Services, name: str) -> None:
    assert overtaken(services, name) == [SOLD, SOLD]
    audit = services.auditor.audit(services.rounds.find("apple"))
    assert (audit.verdict, audit.oversold, audit.left) == ("oversold", 1, 0)


@pytest.mark.parametrize("name", BLIND_TO_OTHERS)
def test_one_key_buys_twice_where_watch_does_not_see_it(services: Services, name: str) -> None:
    assert overtaken(services, name, key="k") == [SOLD, SOLD]
    assert services.auditor.audit(services.rounds.find("apple")).duplicate_keys == 1


def test_watch_sees_it(services: Services) -> None:
    assert overtaken(services, "watch") == [SOLD, SOLD_OUT]
    assert services.auditor.audit(services.rounds.find("apple")).verdict == "exact"


def test_read_before_watch_notices_only_what_comes_after_its_watch(services: Services) -> None:
    round = services.rounds.start("apple", "read_before_watch", 5, {"attempts": 2})
    other = mode(services, round)
    late = Once(lambda: other.sell(order(round)))
    sale = Handed(other, {"MULTI": late}).sell(order(round))
    assert (sale.outcome, sale.left, sale.attempts, sale.conflicts) == (SOLD, 3, 2, 1)

    always = Handed(other, {"MULTI": lambda: other.sell(order(round))})
    sale = always.sell(order(round))
    assert (sale.outcome, sale.attempts, sale.conflicts) == (BUSY, 2, 2)


def two_locks_expire_before_their_watch(
    services: Services, name: str, key: str | None = None
) -> list[Outcome]:
    """One unit. A takes the lock and loses it, B does, and only then do both WATCH and read."""
    round = services.rounds.start("apple", name, 1, {})
    watch, write = threading.Barrier(2, timeout=30), threading.Barrier(2, timeout=30)

    def too_late_for(step: threading.Barrier) -> Once:
        def wait() -> None:
            lease_runs_out(services, Keys("apple", round.number).lock)
            step.wait()

        return Once(wait)

    made = [
        Handed(mode(services, round), {"WATCH": too_late_for(watch), "MULTI": too_late_for(write)})
        for _ in range(2)
    ]
    sales = at_once([partial(seller.sell, order(round, key=key)) for seller in made])
    fulfil_all(services.fulfil)
    return sorted(sale.outcome for sale in sales)


def test_watched_blind_does_not_see_that_its_lock_had_expired(services: Services) -> None:
    told = two_locks_expire_before_their_watch(services, "watched_blind")
    assert told == [SOLD, SOLD]
    audit = services.auditor.audit(services.rounds.find("apple"))
    assert (audit.verdict, audit.oversold, audit.left) == ("oversold", 1, 0)


def test_watched_blind_buys_twice_with_one_key(services: Services) -> None:
    two_locks_expire_before_their_watch(services, "watched_blind", key="k")
    assert services.auditor.audit(services.rounds.find("apple")).duplicate_keys == 1


def test_watched_looks_whose_lock_it_watches(services: Services) -> None:
    told = two_locks_expire_before_their_watch(services, "watched")
    assert told == [SOLD, SOLD_OUT]
    assert services.auditor.audit(services.rounds.find("apple")).verdict == "exact"


@pytest.mark.parametrize(
    ("name", "intruder", "owner"),
    [("watched_blind", SOLD, SOLD_OUT), ("watched", SOLD_OUT, SOLD)],
)
def test_who_sells_under_anothers_lock(
    services: Services, name: str, intruder: Outcome, owner: Outcome
) -> None:
    """A's lock expires before its WATCH and B has it by then. Only B may sell."""
    round = services.rounds.start("apple", name, 1, {})
    inside: list[Buyer] = []

    def let_another_in() -> None:
        lease_runs_out(services, Keys("apple", round.number).lock)
        inside.append(Buyer(services, round))

    def let_him_finish() -> None:
        inside[0].finish()

    # `watched` is refused, and sleeps until the lock is free: B continues there.
    clock = HandClock(Once(let_him_finish)) if name == "watched" else None
    late = Handed(mode(services, round, clock), {"WATCH": Once(let_another_in)}).sell(order(round))
    assert (late.outcome, inside[0].finish().outcome) == (intruder, owner)
    fulfil_all(services.fulfil)
    assert services.auditor.audit(round).verdict == "exact"


def test_watchdog_any_fails_no_purchase_in_this_round_or_the_next(services: Services) -> None:
    """A buyer that leaves must not close a client that others use."""
    for _ in range(2):
        round = services.rounds.start("apple", "lock:watchdog_any", 20, {})
        seller = mode(services, round)
        for _ in range(5):
            sales = at_once([partial(seller.sell, order(round))] * 16)
            assert {sale.outcome for sale in sales} <= {SOLD, SOLD_OUT}
