"""Work that outlives its lease: the modes that notice sell every unit once, and report it."""

from __future__ import annotations

import time

import pytest

from app.bootstrap import Services
from app.domain import Outcome, Round
from app.store.keys import Keys
from tests.support.command_hooks import Buyer, Handed, lease_runs_out
from tests.support.purchases import HandClock, Once, fulfil_all, mode, order

SOLD, SOLD_OUT, BUSY = Outcome.SOLD, Outcome.SOLD_OUT, Outcome.BUSY


def lock_of(round: Round) -> str:
    return Keys(round.item, round.number).lock


def sold_exactly(services: Services, round: Round, units: int) -> None:
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(round)
    verdict = "exact" if units else "untouched"
    assert (audit.verdict, audit.sold, audit.orders) == (verdict, units, units), audit


@pytest.mark.parametrize(("name", "told"), [("fenced", BUSY), ("watched", SOLD_OUT)])
def test_who_is_overtaken_sells_nothing(services: Services, name: str, told: Outcome) -> None:
    """One unit. A's lease runs out while he thinks; B enters and buys it; A writes."""
    round = services.rounds.start("apple", name, 1, {})
    others: list[Outcome] = []

    def be_overtaken() -> None:
        lease_runs_out(services, lock_of(round))
        others.append(mode(services, round).sell(order(round)).outcome)

    sale = mode(services, round, HandClock(Once(be_overtaken))).sell(order(round))
    assert ([sale.outcome], others) == ([told], [SOLD])
    assert sale.lock_lost
    sold_exactly(services, round, 1)


def test_fenced_refuses_a_write_when_a_newer_holder_has_but_read(services: Services) -> None:
    """If only writes were checked, A's write would pass, and B's after it: a lost update."""
    round = services.rounds.start("apple", "fenced", 1, {})
    newer: list[Buyer] = []

    def be_overtaken() -> None:
        lease_runs_out(services, lock_of(round))
        newer.append(Buyer(services, round))

    sale = mode(services, round, HandClock(Once(be_overtaken))).sell(order(round))
    assert (sale.outcome, sale.lock_lost) == (BUSY, True)
    assert newer[0].finish().outcome is SOLD
    sold_exactly(services, round, 1)


@pytest.mark.usefixtures("wired")
def test_fenced_refuses_a_read_when_a_newer_holder_has_read(services: Services) -> None:
    round = services.rounds.start("apple", "fenced", 1, {})
    newer: list[Buyer] = []
    thoughts: list[None] = []

    def be_overtaken() -> None:
        lease_runs_out(services, lock_of(round))
        newer.append(Buyer(services, round))

    # Before the first command about the highest token, which is the read.
    clock = HandClock(lambda: thoughts.append(None))
    late = Handed(
        mode(services, round, clock), {Keys("apple", round.number).fence: Once(be_overtaken)}
    )
    sale = late.sell(order(round))
    assert (sale.outcome, sale.lock_lost, thoughts) == (BUSY, True, [])
    assert newer[0].finish().outcome is SOLD
    sold_exactly(services, round, 1)


def test_fenced_sells_when_nobody_came_meanwhile(services: Services) -> None:
    round = services.rounds.start("apple", "fenced", 1, {})
    seller = mode(
        services, round, HandClock(Once(lambda: lease_runs_out(services, lock_of(round))))
    )
    sale = seller.sell(order(round))
    assert (sale.outcome, sale.lock_lost) == (SOLD, True)
    sold_exactly(services, round, 1)


def test_watched_tries_again_when_its_lock_ran_out(services: Services) -> None:
    round = services.rounds.start("apple", "watched", 1, {})
    seller = mode(
        services, round, HandClock(Once(lambda: lease_runs_out(services, lock_of(round))))
    )
    sale = seller.sell(order(round))
    assert (sale.outcome, sale.attempts, sale.conflicts, sale.lock_lost) == (SOLD, 2, 1, True)
    sold_exactly(services, round, 1)


def test_watched_never_sells_when_the_work_always_outlives_the_lease(services: Services) -> None:
    round = services.rounds.start("apple", "watched", 1, {"attempts": 3})
    seller = mode(services, round, HandClock(lambda: lease_runs_out(services, lock_of(round))))
    sale = seller.sell(order(round))
    assert (sale.outcome, sale.left, sale.attempts, sale.conflicts) == (BUSY, 1, 3, 3)
    assert sale.lock_lost
    sold_exactly(services, round, 0)


@pytest.mark.parametrize("name", ["watched", "watched_blind"])
def test_patience_ends_when_the_work_always_outlives_the_lease(
    services: Services, name: str
) -> None:
    """The lock is free at every try: no buyer holds it, and yet the patience ends."""
    round = services.rounds.start("apple", name, 1, {"wait": 10, "attempts": 5})

    def take_long() -> None:
        lease_runs_out(services, lock_of(round))
        time.sleep(0.02)

    seller = mode(services, round, HandClock(take_long))
    sale = seller.sell(order(round))
    assert (sale.outcome, sale.attempts) == (BUSY, 1)
    sold_exactly(services, round, 0)


def test_fenced_writes_nothing_into_a_round_that_has_ended(services: Services) -> None:
    round = services.rounds.start("apple", "fenced", 5, {})
    seller = mode(services, round, HandClock(Once(lambda: services.rounds.end("apple"))))
    assert seller.sell(order(round)).outcome is Outcome.ROUND_OVER
    assert not services.store.exists(Keys("apple", round.number).stock)
    sold_exactly(services, round, 0)


@pytest.mark.parametrize("name", ["watched", "fenced", "decr"])
def test_nothing_stays_locked(services: Services, name: str) -> None:
    round = services.rounds.start("apple", name, 1, {})
    keys = Keys("apple", round.number)

    def told() -> Outcome:
        sale = mode(services, round).sell(order(round, key="k"))
        assert not services.store.exists(keys.lock, keys.claim("k"))
        return sale.outcome

    assert [told(), told()] == [SOLD, SOLD]  # one sale, found again under its key
    services.store.delete(keys.key("k"))
    assert told() is SOLD_OUT
    services.rounds.end("apple")
    assert told() is Outcome.ROUND_OVER
