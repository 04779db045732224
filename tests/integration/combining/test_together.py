"""A worker's threads that want the same item at the same moment are sold to together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pytest

from app.bootstrap import Services
from app.domain import KeyReused, Order, Outcome, Unreadable
from app.service.purchase import Purchase
from app.service.rounds import is_exhibit
from app.service.selling import Selling
from app.store import combining
from app.store.batch import Answered
from app.store.combining import Combining
from app.store.keys import Keys
from tests.integration.combining.line import behind, line_of
from tests.selling import TOGETHER, at_once, fulfil_all, in_stream
from tests.servers import until

RUNS_ON = ["valkey"]
MakeWorker = Callable[[], Purchase]
SOLD, SOLD_OUT, LIMIT = Outcome.SOLD, Outcome.SOLD_OUT, Outcome.LIMIT


@pytest.fixture(autouse=True)
def _nobody_looks_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether all are well: who is told, or leads, is woken."""
    monkeypatch.setattr(combining, "CHECK_S", 60.0)


def test_who_waits_is_sold_to_with_the_others_in_the_order_they_came(
    services: Services, worker: MakeWorker
) -> None:
    round = services.rounds.start("apple", "watch", 12, {"per_buyer": 4})
    with behind(shop := worker()) as crowd:
        wanted = [(4, "k", "A"), (1, "l", "A"), (9, "m", "B"), (4, "k", "A"), (3, "n", "B")]
        coming = [crowd.comes(many, key=key, buyer=buyer) for many, key, buyer in wanted]
        until(lambda: services.auditor.audit(round).in_flight == 6)
    answers = [each.result(10) for each in coming]
    assert [each.sale.outcome for each in answers] == [SOLD, LIMIT, SOLD_OUT, SOLD, SOLD]
    assert answers[0].sale.order == answers[3].sale.order
    assert [each.key for each in in_stream(services, round)][1:] == ["k", "n"]
    # One packet's round trips are counted once, with the purchase whose thread sent it.
    assert sorted(each.wire.round_trips for each in answers) == [0, 0, 0, 0, 3]
    assert sum(each.wire.commands for each in answers) == 3 + 1 + 2 + 2
    assert shop.tally.meter.counts["watch"].answers == {"SOLD": 4, "LIMIT": 1, "SOLD_OUT": 1}
    fulfil_all(services.fulfil)
    until(lambda: services.auditor.audit(round).verdict == "exact")


def test_a_key_that_is_used_for_something_else_is_refused_to_that_one_alone(
    services: Services, worker: MakeWorker
) -> None:
    services.rounds.start("apple", "watch", 12, {})
    with behind(worker()) as crowd:
        one, other, third = (crowd.comes(n, key="k" if n < 3 else "l") for n in (1, 2, 3))
    assert one.result(10).sale.outcome is third.result(10).sale.outcome is SOLD
    with pytest.raises(KeyReused):
        other.result(10)


def test_what_cannot_be_read_is_told_to_whose_key_it_is(
    services: Services, worker: MakeWorker
) -> None:
    services.rounds.start("apple", "watch", 12, {})
    services.store.set(Keys("apple", 1).key("odd"), b"no sale")
    with behind(worker()) as crowd:
        coming = [crowd.comes(key=key) for key in ("k", "odd", "l")]
    assert isinstance(coming[1].exception(10), Unreadable)
    assert coming[0].result().sale.outcome is coming[2].result().sale.outcome is SOLD


def test_what_is_sold_together_in_a_round_that_holds_is_held(
    services: Services, worker: MakeWorker
) -> None:
    services.rounds.start("apple", "watch", 3, {"hold": 60_000})
    with behind(worker()) as crowd:
        coming = [crowd.comes() for _ in range(3)]
    told = [each.result(10).sale.outcome for each in coming]
    assert told == [Outcome.HELD, Outcome.HELD, SOLD_OUT]


def test_who_waits_while_its_round_ends_buys_in_the_next(
    services: Services, worker: MakeWorker
) -> None:
    first = services.rounds.start("apple", "watch", 9, {})
    with behind(shop := worker()) as crowd:
        coming = [crowd.comes() for _ in range(3)]
        second = services.rounds.start("apple", "watch", 9, {})
        shop.refresh()
    assert {each.result(10).round.number for each in coming} == {second.number}
    assert (services.rounds.left(first), services.rounds.left(second)) == (9, 5)


def test_nobody_sells_to_others_more_than_once(
    services: Services, worker: MakeWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    round = services.rounds.start("apple", "watch", 20, {})
    monkeypatch.setattr(combining, "MOST", 3)
    shop = worker()
    line, sellers = line_of(shop), list[tuple[int, int]]()
    real = line.sell_all

    def noted(orders: Sequence[Order]) -> list[Answered]:
        sellers.append((threading.get_ident(), len(orders)))
        return real(orders)

    line.sell_all = noted
    with behind(shop) as crowd:
        coming = [crowd.comes(key=f"k{number}") for number in range(8)]
    assert {each.result(10).sale.outcome for each in coming} == {SOLD}
    assert [many for _, many in sellers] == [3, 3, 2]
    assert len({thread for thread, _ in sellers}) == 3
    assert [each.key for each in in_stream(services, round)][1:] == [f"k{n}" for n in range(8)]


@pytest.mark.parametrize("name", TOGETHER)
def test_two_workers_with_a_crowd_each_sell_exactly_the_stock(
    services: Services, worker: MakeWorker, name: str
) -> None:
    times = {"wait": 50_000, "attempts": 1000, "per_buyer": 9}
    round = services.rounds.start("apple", name, 60, times)
    shops = [worker(), worker()]
    asked = [(n % 4 + 1, f"k{n // 2}", f"buyer {n % 4}") for n in range(0, 64, 2)] * 2
    answers = at_once(
        [partial(shop.buy, "apple", *ask) for ask, shop in zip(asked, shops * 32, strict=True)]
    )
    assert {each.sale.outcome for each in answers} <= {SOLD, SOLD_OUT, LIMIT}
    fulfil_all(services.fulfil)
    until(lambda: services.auditor.audit(round).verdict == "exact")
    by_buyer: dict[str, int] = {}
    orders = {each.sale.order.id: each.sale.order for each in answers if each.sale.order}
    for each in orders.values():
        by_buyer[each.buyer] = by_buyer.get(each.buyer, 0) + each.quantity
    assert all(units <= 9 for units in by_buyer.values())
    assert sum(by_buyer.values()) == services.auditor.audit(round).sold


def test_each_for_itself_where_it_is_off_or_the_round_thinks(services: Services) -> None:
    def combined(name: str, combine: str = "on", **times: int) -> bool:
        round = services.rounds.start("apple", name, 9, times)
        services.servers.settings = replace(services.servers.settings, shop_combine=combine)
        selling = Selling.of(round, services.servers)
        return isinstance(getattr(selling.sell, "__self__", None), Combining)

    assert [name for name in TOGETHER if combined(name)] == TOGETHER
    assert not any(combined(name, "off") for name in TOGETHER)
    assert not any(combined(name, think=1) for name in TOGETHER)
    assert not combined("naive")
    assert not any(is_exhibit(name) for name in TOGETHER)
