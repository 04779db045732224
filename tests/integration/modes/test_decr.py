"""decr between its DECRBY and the step that should follow it."""

from __future__ import annotations

import signal

import pytest

from app.bootstrap import Services
from app.domain import Outcome
from app.store.keys import Keys
from tests.support import killed_sellers
from tests.support.command_hooks import Handed, lease_runs_out
from tests.support.forked_process import Forked
from tests.support.purchases import HandClock, Once, at_once, fulfil_all, mode, order

pytestmark = pytest.mark.usefixtures("wired")

SOLD, SOLD_OUT = Outcome.SOLD, Outcome.SOLD_OUT


def test_a_moment_below_zero_tells_sold_out_while_a_unit_remains(services: Services) -> None:
    """3 units. A and B read 3 and want 2 each; B comes second. C wants the one that is left."""
    round = services.rounds.start("apple", "decr", 3, {})
    stock = Keys("apple", round.number).stock
    first, third = mode(services, round), mode(services, round)
    told: list[Outcome] = []

    def below_zero() -> None:
        assert services.store.get(stock) == b"-1"
        sale = third.sell(order(round))
        assert (sale.outcome, sale.left) == (SOLD_OUT, 0)
        told.append(sale.outcome)

    clock = HandClock(Once(lambda: told.append(first.sell(order(round, quantity=2)).outcome)))
    second = Handed(mode(services, round, clock), {"INCRBY": below_zero})
    sale = second.sell(order(round, quantity=2))
    assert told == [SOLD, SOLD_OUT]
    assert (sale.outcome, sale.left) == (SOLD_OUT, 1)
    assert third.sell(order(round)).outcome is SOLD, "the unit was there after all"
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.sold, audit.left) == ("exact", 3, 0)


def test_the_round_ends_before_the_decrby(services: Services) -> None:
    round = services.rounds.start("apple", "decr", 3, {})
    seller = mode(services, round, HandClock(Once(lambda: services.rounds.end("apple"))))
    assert seller.sell(order(round)).outcome is Outcome.ROUND_OVER
    assert not services.store.exists(Keys("apple", round.number).stock)
    assert services.rounds.left(round) == 3


def test_the_round_ends_before_the_units_are_given_back(services: Services) -> None:
    round = services.rounds.start("apple", "decr", 1, {})
    other = mode(services, round)
    clock = HandClock(Once(lambda: other.sell(order(round))))
    end = Once(lambda: services.rounds.end("apple"))
    seller = Handed(mode(services, round, clock), {"INCRBY": end})
    assert seller.sell(order(round)).outcome is SOLD_OUT
    assert not services.store.exists(Keys("apple", round.number).stock)
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.sold, audit.left) == ("exact", 1, 0)


def test_one_key_buys_once_though_the_purchase_outlives_its_lock(services: Services) -> None:
    """The key's lock is a lease; a seller that records its sale too late gets the first one's."""
    round = services.rounds.start("apple", "decr", 3, {})
    claim = Keys("apple", round.number).claim("k")
    other = mode(services, round)

    def be_overtaken() -> None:
        lease_runs_out(services, claim)
        assert other.sell(order(round, key="k")).outcome is SOLD

    sale = mode(services, round, HandClock(Once(be_overtaken))).sell(order(round, key="k"))
    assert (sale.outcome, sale.lock_lost) == (SOLD, True)
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.sold, audit.left) == ("exact", 1, 2)


@pytest.mark.parametrize(("word", "rivals"), [("EVALSHA", 0), ("INCRBY", 1)])
def test_a_crash_after_the_decrby_leaves_a_unit_to_nobody(
    services: Services, word: str, rivals: int
) -> None:
    """Killed before it records its sale; or, beaten by a rival, before it gives the unit back."""
    round = services.rounds.start("apple", "decr", 1, {})
    dead = Forked(killed_sellers.before, word, services.settings.store, round, rivals)
    assert dead.ends() == -signal.SIGKILL
    dead.close()
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.undersold, audit.sold) == ("undersold", 1, rivals)


def test_a_key_that_is_being_sold_makes_the_impatient_busy(services: Services) -> None:
    round = services.rounds.start("apple", "decr", 3, {"wait": 300})
    services.store.set(Keys("apple", round.number).claim("k"), "somebody else")
    sale = mode(services, round).sell(order(round, key="k"))
    assert (sale.outcome, sale.attempts > 1) == (Outcome.BUSY, True)
    assert services.rounds.left(round) == 3


def test_replays_under_way_take_no_units(services: Services) -> None:
    """The last unit, one key, many presses at once: none of them gets SOLD_OUT."""
    round = services.rounds.start("apple", "decr", 1, {})
    seller = mode(services, round)
    sales = at_once([lambda: seller.sell(order(round, key="k")) for _ in range(16)])
    assert {sale.outcome for sale in sales} == {SOLD}
    assert len({sale.order for sale in sales}) == 1
