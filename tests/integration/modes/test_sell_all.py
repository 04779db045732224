"""Several sold to in one go: as if each had come by itself, one after another."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pytest

from app.bootstrap import Services
from app.domain import Outcome, Round, Sale, Unreadable
from app.modes import SellsAll
from app.store.batch import Answered
from app.store.keys import Keys
from app.store.redis import Wire, metered
from tests.selling import TOGETHER, fulfil_all, in_stream, mode, order

RUNS_ON = ["valkey", "cluster"]
pytestmark = pytest.mark.parametrize("name", TOGETHER)
SOLD, SOLD_OUT, LIMIT, BUSY = Outcome.SOLD, Outcome.SOLD_OUT, Outcome.LIMIT, Outcome.BUSY


def start(services: Services, name: str, stock: int = 10, **times: int) -> tuple[Round, SellsAll]:
    round = services.rounds.start("apple", name, stock, times)
    return round, cast(SellsAll, mode(services, round))


def outcomes(answers: Sequence[Answered]) -> list[Outcome]:
    return [cast(Sale, each).outcome for each in answers]


def test_all_or_nothing_each_in_their_order(services: Services, name: str) -> None:
    """A big one that does not fit stops no smaller one behind it."""
    round, seller = start(services, name)
    wanted = [order(round, quantity) for quantity in (6, 5, 4, 1)]
    sales = seller.sell_all(wanted)
    assert outcomes(sales) == [SOLD, SOLD_OUT, SOLD, SOLD_OUT]
    assert [cast(Sale, each).left for each in sales] == [4, 4, 0, 0]
    assert in_stream(services, round) == [wanted[0], wanted[2]]
    assert services.rounds.left(round) == 0
    fulfil_all(services.fulfil)
    assert services.auditor.audit(round).verdict == "exact"


def test_one_key_twice_makes_one_order_and_both_get_it(services: Services, name: str) -> None:
    round, seller = start(services, name)
    before = seller.sell(order(round, key="before")).order
    wanted = [order(round, key=key) for key in ("k", "other", "k", "before")]
    sales = [cast(Sale, each) for each in seller.sell_all(wanted)]
    assert {each.outcome for each in sales} == {SOLD}
    assert [each.order for each in sales] == [wanted[0], wanted[1], wanted[0], before]
    assert services.rounds.left(round) == 7
    assert in_stream(services, round) == [before, wanted[0], wanted[1]]


def test_a_key_that_was_refused_buys_when_less_is_asked_for(services: Services, name: str) -> None:
    round, seller = start(services, name, 3)
    told = seller.sell_all([order(round, 4, "k"), order(round, 3, "k")])
    assert outcomes(told) == [SOLD_OUT, SOLD]


def test_the_limit_counts_what_one_buyer_gets_in_one_go(services: Services, name: str) -> None:
    round, seller = start(services, name, per_buyer=3)
    wanted = [(2, "A"), (2, "A"), (3, "B"), (1, "A"), (1, "B")]
    sales = seller.sell_all([order(round, many, buyer=buyer) for many, buyer in wanted])
    assert outcomes(sales) == [SOLD, LIMIT, SOLD, SOLD, LIMIT]
    assert [cast(Sale, each).bought for each in sales] == [None, 2, None, None, 3]
    assert seller.sell(order(round, buyer="A")).bought == 3
    assert services.rounds.left(round) == 4


def test_what_is_held_goes_into_the_same_stream(services: Services, name: str) -> None:
    round, seller = start(services, name, hold=60_000)
    wanted = [order(round) for _ in range(3)]
    assert outcomes(seller.sell_all(wanted)) == [SOLD] * 3
    assert services.store.xlen(Keys("apple", round.number).holds) == 3
    assert services.store.xlen(Keys("apple", round.number).sales) == 0


def test_a_round_that_has_ended_sells_nothing(services: Services, name: str) -> None:
    round, seller = start(services, name)
    first = seller.sell(order(round, key="k"))
    services.rounds.end("apple")
    sales = [cast(Sale, each) for each in seller.sell_all([order(round), order(round, key="k")])]
    assert [each.outcome for each in sales] == [Outcome.ROUND_OVER, SOLD]
    assert sales[1].order == first.order
    assert services.rounds.left(round) == 9


def test_one_that_cannot_be_read_is_no_trouble_of_the_others(services: Services, name: str) -> None:
    round, seller = start(services, name)
    services.store.set(Keys("apple", round.number).key("odd"), b"no sale")
    sales = seller.sell_all([order(round), order(round, key="odd"), order(round)])
    assert isinstance(sales[1], Unreadable)
    assert outcomes([sales[0], sales[2]]) == [SOLD, SOLD]


def test_one_go_costs_what_one_purchase_costs(services: Services, name: str) -> None:
    round, seller = start(services, name)
    seller.sell_all([order(round) for _ in range(2)])
    wire = Wire()
    with metered(wire):
        seller.sell_all([order(round) for _ in range(5)])
    assert wire.round_trips == seller.cost[0]


@pytest.mark.parametrize("seed", range(4))
def test_it_tells_and_leaves_what_one_after_another_does(
    services: Services, name: str, seed: int
) -> None:
    """Whatever comes: the same orders, of an item of their own, by `sell` and by `sell_all`."""
    chance = random.Random(seed)
    limit = {"per_buyer": chance.choice([0, 4])}
    rounds = [services.rounds.start(item, name, 25, limit) for item in ("apple", "pear")]
    single, several = (cast(SellsAll, mode(services, round)) for round in rounds)
    for _ in range(6):
        drawn = [
            (chance.randint(1, 4), chance.choice("abcdef"), chance.choice("AB"))
            for _ in range(chance.randint(1, 6))
        ]
        wanted = [order(rounds[0], many, key, buyer) for many, key, buyer in drawn]
        same = [replace(each, item="pear", round=rounds[1].number) for each in wanted]
        told = [single.sell(each) for each in wanted]
        assert [_of_apples(each) for each in several.sell_all(same)] == told
    assert services.rounds.left(rounds[0]) == services.rounds.left(rounds[1])
    sold = [[each.id for each in in_stream(services, round)] for round in rounds]
    assert sold[0] == sold[1]


def _of_apples(sale: Answered) -> Sale:
    assert isinstance(sale, Sale)
    return replace(sale, order=sale.order and replace(sale.order, item="apple", round=1))
