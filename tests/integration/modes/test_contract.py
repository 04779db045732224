"""The contract of every mode, parametrised over all of them."""

from __future__ import annotations

import pytest

from app.bootstrap import Services
from app.domain import Outcome, Round
from app.locks import LOCKS
from app.modes import MODES, Mode, Way
from app.store.clients.redis import Wire, metered
from app.store.keys import Keys
from tests.support.purchases import ON_DATABASES, mode, order, sold_orders
from tests.support.servers import STORES

RUNS_ON = [*STORES, "cluster"]

pytestmark = [
    pytest.mark.usefixtures("database_url"),
    pytest.mark.parametrize(("name", "database_url"), ON_DATABASES, indirect=["database_url"]),
]


@pytest.fixture
def selling(services: Services, name: str) -> Round:
    return services.rounds.start("apple", name, 10, {})


@pytest.fixture
def seller(services: Services, selling: Round) -> Mode:
    return mode(services, selling)


def test_sells_and_says_how_many_are_left(services: Services, selling: Round, seller: Mode) -> None:
    sale = seller.sell(order(selling, quantity=3))
    left = None if Way.of(selling.mode).in_rows else 7  # it would have to count them
    assert (sale.outcome, sale.left, sale.attempts) == (Outcome.SOLD, left, 1)
    assert services.rounds.left(selling) == 7


def test_the_sale_is_written_with_its_names(
    services: Services, selling: Round, seller: Mode
) -> None:
    wanted = order(selling, key="mine")
    sale = seller.sell(wanted)
    assert sold_orders(services, selling) == [wanted] == [sale.order]
    if Way.of(selling.mode).in_database:  # a row is found by both
        return
    keys = Keys("apple", selling.number)
    assert services.store.get(keys.order(wanted.id)) == wanted.encode()
    assert services.store.get(keys.key("mine")) == wanted.encode()


def test_sells_to_the_last_unit_and_no_further(
    services: Services, selling: Round, seller: Mode
) -> None:
    sold = [seller.sell(order(selling)).outcome for _ in range(12)]
    assert sold == [Outcome.SOLD] * 10 + [Outcome.SOLD_OUT] * 2


def test_all_or_nothing(services: Services, selling: Round, seller: Mode) -> None:
    seller.sell(order(selling, quantity=8))
    refused = seller.sell(order(selling, quantity=3))
    assert (refused.outcome, refused.left) == (Outcome.SOLD_OUT, 2)
    assert services.rounds.left(selling) == 2
    assert seller.sell(order(selling, quantity=2)).outcome is Outcome.SOLD


def test_the_same_key_gives_the_same_order(
    services: Services, selling: Round, seller: Mode
) -> None:
    first = seller.sell(order(selling, key="k"))
    again = seller.sell(order(selling, key="k"))
    assert first.order == again.order
    assert again.outcome is Outcome.SOLD
    assert services.rounds.left(selling) == 9


def test_a_key_is_remembered_when_all_is_sold(
    services: Services, selling: Round, seller: Mode
) -> None:
    first = seller.sell(order(selling, quantity=10, key="k"))
    assert seller.sell(order(selling, quantity=10, key="k")).order == first.order


def test_only_sold_is_remembered(services: Services, selling: Round, seller: Mode) -> None:
    seller.sell(order(selling, quantity=9))
    assert seller.sell(order(selling, quantity=2, key="k")).outcome is Outcome.SOLD_OUT
    assert seller.sell(order(selling, quantity=1, key="k")).outcome is Outcome.SOLD


def test_an_ended_round_sells_nothing(services: Services, selling: Round, seller: Mode) -> None:
    services.rounds.end("apple")
    assert seller.sell(order(selling)).outcome is Outcome.ROUND_OVER
    assert services.rounds.left(selling) == 10


def cost(name: str) -> tuple[int, int]:
    """Return the (round trips, commands) that a mode claims, with its recipe's added."""
    mode, _, recipe = name.partition(":")
    trips, commands = MODES[mode].cost
    if not recipe:
        return trips, commands
    lock = LOCKS[recipe].cost
    return trips + lock[0], commands + lock[1]


def test_costs_what_it_says(name: str, selling: Round, seller: Mode) -> None:
    """A purchase without contention, once the server has the scripts."""
    seller.sell(order(selling))
    wire = Wire()
    with metered(wire):
        seller.sell(order(selling))
    assert (wire.round_trips, wire.commands) == cost(name)
