"""Buy is hold, then pay: the contract of every mode except exhibits."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

from app.bootstrap import Services
from app.domain import (
    AlreadyPaid,
    Hold,
    HoldOver,
    Order,
    Outcome,
    Round,
    Stands,
)
from app.modes import Way
from app.service.purchase import Purchase
from app.store.keys import Keys
from tests.support.holds import LONG, counted, runs_out
from tests.support.purchases import (
    ON_DATABASES,
    SOUND,
    HandClock,
    Once,
    at_once,
    fulfil_all,
    mode,
    order,
)

RUNS_ON = ["valkey"]
WITHOUT_A_GAP = ("atomic", "sql")

pytestmark = [
    pytest.mark.usefixtures("database_url"),
    pytest.mark.parametrize(
        ("name", "database_url"),
        [on for on in ON_DATABASES if on[0] in SOUND],
        indirect=["database_url"],
    ),
]


@pytest.fixture
def shop(services: Services, worker: Callable[[], Purchase], name: str) -> Purchase:
    services.rounds.start("apple", name, 10, {"hold": LONG, "lease": 600_000})
    return worker()


@pytest.fixture
def round(services: Services, shop: Purchase) -> Round:
    return services.rounds.find("apple")


def held(shop: Purchase, quantity: int = 1, key: str | None = None) -> Order:
    answer = shop.buy("apple", quantity, key)
    assert answer.sale.outcome is Outcome.HELD
    assert answer.hold is not None
    assert 0 < answer.hold.ms_left <= LONG
    assert answer.sale.order is not None
    return answer.sale.order


def look(services: Services, order: Order) -> Hold:
    found = services.holds.look(order)
    assert found is not None
    return found


def test_pay(services: Services, shop: Purchase, round: Round) -> None:
    """Once, twice, and with the key again: it is one order, and none of its units come back."""
    order = held(shop, 3, "k")
    assert counted(services, round) == (7, 3, 0)
    assert shop.buy("apple", 3, "k").sale.order == order, "held, still"
    assert counted(services, round) == (7, 3, 0)
    for _ in range(2):
        services.holds.pay(order)
        assert counted(services, round) == (7, 0, 3)
    fulfil_all(services.fulfil)
    services.holds.pay(order)
    again = shop.buy("apple", 3, "k")
    assert (again.sale.outcome, again.sale.order) == (Outcome.SOLD, order)
    with pytest.raises(AlreadyPaid):
        services.holds.give_up(order, Stands.CANCELLED)
    entry = services.order_lookup.find(order.id)
    assert (entry.order, entry.confirmed, entry.hold) == (order, True, None)
    assert counted(services, round) == (7, 0, 3)


@pytest.mark.parametrize("stands", [Stands.DECLINED, Stands.CANCELLED])
def test_give_up(services: Services, shop: Purchase, round: Round, stands: Stands) -> None:
    order = held(shop, 4, "k")
    for _ in range(2):
        assert services.holds.give_up(order, stands).stands is stands
        assert counted(services, round) == (10, 0, 0)
    refused_for_good(services, shop, order, stands)
    assert counted(services, round) == (10, 0, 0)
    assert held(shop, 10).quantity == 10, "on sale again"


def test_pay_late(services: Services, shop: Purchase, round: Round) -> None:
    """A late payment is the first to notice."""
    order = held(shop, 10, "k")
    runs_out(services, order)
    refused_for_good(services, shop, order, Stands.EXPIRED)
    assert counted(services, round) == (10, 0, 0)


def refused_for_good(services: Services, shop: Purchase, order: Order, stands: Stands) -> None:
    for _ in range(2):
        with pytest.raises(HoldOver) as late:
            services.holds.pay(order)
        assert (late.value.hold.stands, late.value.hold.owed) == (stands, False)
    with pytest.raises(HoldOver) as same:
        shop.buy("apple", order.quantity, "k")
    assert same.value.hold.stands is stands
    entry = services.order_lookup.find(order.id)
    assert entry.hold is not None
    assert (entry.confirmed, entry.hold.stands) == (False, stands)


def test_another_buyer_notices(services: Services, shop: Purchase, round: Round) -> None:
    order = held(shop, 10)
    assert shop.buy("apple", 1).sale.outcome is Outcome.SOLD_OUT
    runs_out(services, order)
    if Way.of(round.mode).in_database:  # there, all wait for fulfil
        services.sweep.sweep()
    held(shop, 2)
    assert counted(services, round) == (8, 2, 0)


def test_who_buys_what_another_let_run_out_has_bought_once(
    services: Services, shop: Purchase, round: Round
) -> None:
    order = held(shop, 10)
    runs_out(services, order)
    if Way.of(round.mode).in_database:
        services.sweep.sweep()
    held(shop, 2)
    answers = services.auditor.audit(round).answers
    assert {word: many for word, many in answers.items() if many} == {"HELD": 2}


def test_the_sweep_notices(services: Services, shop: Purchase, round: Round) -> None:
    first, second = held(shop, 3), held(shop, 2)
    services.sweep.sweep()
    assert counted(services, round) == (5, 5, 0)
    runs_out(services, first)
    services.sweep.sweep()
    services.sweep.sweep()
    assert counted(services, round) == (8, 2, 0)
    assert look(services, first).stands is Stands.EXPIRED
    assert look(services, second).stands is Stands.HELD


def test_the_sweep_notices_also_when_another_way_sells_by_then(
    services: Services, shop: Purchase, round: Round
) -> None:
    services.sweep.sweep()  # there is nothing to see yet
    order = held(shop, 3)
    services.rounds.start("apple", "atomic", 5, {})
    runs_out(services, order)
    services.sweep.sweep()
    assert counted(services, services.rounds.find("apple", round.number)) == (10, 0, 0)


def test_who_settles_and_dies_leaves_it_to_the_sweep(
    services: Services, shop: Purchase, round: Round, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the two steps the units are held: the audit sees them, and they are not sold."""
    order = held(shop, 3)
    with monkeypatch.context() as dying:
        dying.setattr(type(services.holds), "put_back", lambda *_: False)
        services.holds.give_up(order, Stands.DECLINED)
    assert counted(services, round) == (7, 3, 0)
    runs_out_of_patience(services, order)
    services.sweep.sweep()
    assert counted(services, round) == (10, 0, 0)
    assert look(services, order).stands is Stands.DECLINED


def runs_out_of_patience(services: Services, order: Order) -> None:
    """Let the moment pass by which its units should have been back."""
    round = services.rounds.find(order.item, order.round)
    if not Way.of(round.mode).in_database:
        services.store.zadd(Keys(order.item, order.round).due, {order.id: 1})


def test_after_the_rounds_end_it_is_paid_or_comes_back_to_the_ended_stock(
    services: Services, shop: Purchase, round: Round
) -> None:
    paid, given_up, late = held(shop, 1), held(shop, 2), held(shop, 3)
    services.rounds.end("apple")
    ended = services.rounds.find("apple", round.number)
    assert counted(services, ended) == (4, 6, 0)
    services.holds.pay(paid)
    services.holds.give_up(given_up, Stands.CANCELLED)
    runs_out(services, late)
    services.sweep.sweep()
    assert counted(services, ended) == (9, 0, 1)
    fulfil_all(services.fulfil)
    assert counted(services, ended) == (9, 0, 1)


def test_a_key_that_holds_holds_in_the_next_round(services: Services, shop: Purchase) -> None:
    order = held(shop, 2, "k")
    services.rounds.start("apple", "atomic", 10, {})
    shop.running_rounds.refresh()
    again = shop.buy("apple", 2, "k")
    assert (again.sale.outcome, again.sale.order) == (Outcome.HELD, order)
    services.holds.give_up(order, Stands.CANCELLED)
    with pytest.raises(HoldOver):
        shop.buy("apple", 2, "k")


def test_units_come_back_while_a_buyer_thinks(services: Services, name: str) -> None:
    """The buyer has read the stock without them: neither write is lost."""
    terms = {"hold": LONG, "wait": 0, "think": 1, "per_buyer": 5}
    round = services.rounds.start("apple", name, 10, terms)
    first = order(round, 3)
    assert mode(services, round).sell(first).outcome is Outcome.SOLD
    thought: list[None] = []

    def give_up() -> None:
        thought.append(None)
        services.holds.give_up(first, Stands.DECLINED)

    if name == "sql_lock" and services.engine.dialect.name == "sqlite":
        pytest.skip("its lock is on the whole file: who settles waits, too, and comes later")
    seller = mode(services, round, HandClock(Once(give_up)))
    sold = seller.sell(order(round, 2)).outcome is Outcome.SOLD
    assert thought or name in WITHOUT_A_GAP
    give_up()  # under a lock it could not; by then it can
    assert counted(services, round) == ((8, 2, 0) if sold else (10, 0, 0))
    assert mode(services, round).sell(order(round, 3)).outcome is Outcome.SOLD


def test_what_comes_back_is_in_no_buyers_way(
    services: Services, worker: Callable[[], Purchase], name: str
) -> None:
    """It counts for the limit of its buyer while it is held, and no longer."""
    terms = {"hold": LONG, "lease": 600_000, "per_buyer": 3}
    round, shop = services.rounds.start("apple", name, 10, terms), worker()
    first = shop.buy("apple", 2, buyer="b").sale
    assert shop.buy("apple", 2, buyer="b").sale.outcome is Outcome.LIMIT
    assert first.order
    services.holds.give_up(first.order, Stands.DECLINED)
    second = shop.buy("apple", 3, buyer="b").sale
    assert second.order
    assert shop.buy("apple", 1, buyer="b").sale.outcome is Outcome.LIMIT
    services.holds.pay(second.order)
    assert shop.buy("apple", 1, buyer="b").sale.outcome is Outcome.LIMIT
    assert counted(services, round) == (7, 0, 3)


def test_all_at_once(services: Services, shop: Purchase, round: Round) -> None:
    """Eight pay, decline, look and sweep at once: one settles it, and counts its units once."""
    order, other = held(shop, 3), held(shop, 2)
    runs_out(services, other)
    told: list[Stands] = []

    def settle(deed: Callable[[], object]) -> None:
        with suppress(HoldOver, AlreadyPaid):
            deed()
        told.append(look(services, order).stands)

    deeds: list[Callable[[], object]] = [
        lambda: services.holds.pay(order),
        lambda: services.holds.give_up(order, Stands.DECLINED),
        lambda: look(services, other),
        services.sweep.sweep,
    ]
    at_once([lambda deed=deed: settle(deed) for deed in deeds * 2])  # type: ignore[misc]
    assert len(set(told) - {Stands.HELD}) == 1
    services.sweep.sweep()
    paid = look(services, order).stands is Stands.PAID
    if not paid and counted(services, round)[1]:  # others were in the way, and it is owed
        runs_out_of_patience(services, order)
        services.sweep.sweep()
    assert counted(services, round) == ((7, 0, 3) if paid else (10, 0, 0))
