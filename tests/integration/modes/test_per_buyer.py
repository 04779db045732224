"""At most so many units for a buyer in a round: in every mode, and in the step that sells."""

from __future__ import annotations

import threading
from functools import partial

import pytest
from sqlalchemy import event

from app.bootstrap import Services
from app.domain import Outcome
from app.modes import Way
from app.store.clients.redis import Wire, metered
from app.store.keys import Keys
from tests.integration.modes.test_contract import cost
from tests.support.command_hooks import lease_runs_out
from tests.support.purchases import (
    IN_DATABASE,
    NAMES,
    ON_DATABASES,
    SOUND,
    HandClock,
    Once,
    at_once,
    fulfil_all,
    mode,
    order,
    sold_orders,
)

RUNS_ON = ["valkey"]

SOLD, SOLD_OUT, LIMIT = Outcome.SOLD, Outcome.SOLD_OUT, Outcome.LIMIT
on_databases = pytest.mark.parametrize(
    ("name", "database_url"),
    [on for on in ON_DATABASES if on[0] in SOUND],
    indirect=["database_url"],
)


@pytest.mark.parametrize(("name", "database_url"), ON_DATABASES, indirect=["database_url"])
def test_a_buyer_gets_so_many_and_no_more(services: Services, name: str, database_url: str) -> None:
    round = services.rounds.start("apple", name, 10, {"per_buyer": 3})
    seller = mode(services, round)
    first = seller.sell(order(round, 2, "k", "A"))

    refused = seller.sell(order(round, 2, buyer="A"))
    counts = not Way.of(name).in_rows
    assert (refused.outcome, refused.bought, refused.left) == (LIMIT, 2, 8 if counts else None)
    assert services.rounds.left(round) == 8

    wire = Wire()
    with metered(wire):
        assert seller.sell(order(round, 1, buyer="A")).outcome is SOLD
    assert (wire.round_trips, wire.commands) == cost(name), "a limit costs no command more"

    refused = seller.sell(order(round, 1, buyer="A"))
    assert (refused.outcome, refused.bought, refused.left) == (LIMIT, 3, 7 if counts else None)
    again = seller.sell(order(round, 2, "k", "A"))
    assert (again.outcome, again.order) == (SOLD, first.order), "the same press finds its order"

    assert seller.sell(order(round, 4, buyer="B")).bought == 0
    assert seller.sell(order(round, 3, buyer="B")).outcome is SOLD
    assert seller.sell(order(round, 5, buyer="A")).outcome is SOLD_OUT, "said before the limit"
    assert sum(each.quantity for each in sold_orders(services, round)) == 6
    assert services.rounds.left(round) == 4


@pytest.mark.parametrize("name", ["atomic", "watch", "sql"])
def test_the_next_round_counts_anew(services: Services, name: str) -> None:
    for _ in range(2):
        round = services.rounds.start("apple", name, 10, {"per_buyer": 1})
        told = [mode(services, round).sell(order(round, buyer="A")).outcome for _ in range(2)]
        assert told == [SOLD, LIMIT]


@pytest.mark.parametrize("name", [name for name in NAMES if not Way.of(name).in_database])
def test_a_round_without_a_limit_has_no_counter(services: Services, name: str) -> None:
    round = services.rounds.start("apple", name, 10, {})
    for _ in range(2):
        assert mode(services, round).sell(order(round, 5, buyer="A")).outcome is SOLD
    assert services.store.keys("*bought*") == []


@pytest.mark.parametrize("name", IN_DATABASE)
def test_a_round_without_a_limit_has_no_statement(services: Services, name: str) -> None:
    asked: list[str] = []
    event.listen(
        services.engine, "before_cursor_execute", lambda *told: asked.append(told[2]), named=False
    )
    for limit in (0, 5):
        round = services.rounds.start("apple", name, 10, {"per_buyer": limit})
        asked.clear()
        assert mode(services, round).sell(order(round, buyer="A")).outcome is SOLD
        assert any("buyers" in statement for statement in asked) == bool(limit)


def presses(services: Services, name: str) -> list[Outcome]:
    """Let one buyer, who may have one unit, press twice under two keys, at a worker each.

    Each worker waits, where it first sleeps, until the other has got as far.
    """
    round = services.rounds.start("apple", name, 5, {"per_buyer": 1})
    meet = threading.Barrier(2, timeout=10)
    sellers = [mode(services, round, HandClock(Once(meet.wait))) for _ in range(2)]
    sales = at_once([partial(seller.sell, order(round, buyer="A")) for seller in sellers])
    fulfil_all(services.fulfil)
    return sorted(sale.outcome for sale in sales)


@pytest.mark.parametrize("name", ["naive", "read_before_watch", "watch_elsewhere"])
def test_exhibits_do_not_promise_a_limit(services: Services, name: str) -> None:
    """Broken on purpose: two requests read the counter before either writes it."""
    if name == "naive":
        assert presses(services, name) == [SOLD, SOLD]
        return
    round = services.rounds.start("apple", name, 5, {"per_buyer": 1})
    other = Once(lambda: mode(services, round).sell(order(round, buyer="A")))
    late = mode(services, round, HandClock(other)).sell(order(round, buyer="A"))
    assert late.outcome is SOLD
    assert len(sold_orders(services, round)) == 2


# A seller that waits for a row or a file waits inside the database, where no hook reaches: the
# crowd does.
@pytest.mark.parametrize("name", [name for name in SOUND if name != "sql_lock"])
def test_the_others_sell_to_one_of_two_presses(services: Services, name: str) -> None:
    assert presses(services, name) == [LIMIT, SOLD]
    audit = services.auditor.audit(services.rounds.find("apple"))
    assert (audit.verdict, audit.sold, audit.left) == ("exact", 1, 4)


@on_databases
def test_however_many_presses_at_once(services: Services, name: str, database_url: str) -> None:
    terms = {"per_buyer": 3, "wait": 50_000, "attempts": 1000}
    round = services.rounds.start("apple", name, 20, terms)
    sellers = [mode(services, round) for _ in range(2)]
    wanted = [order(round, buyer=buyer) for buyer in "AAAAAAAB"]
    sales = at_once([partial(sellers[n % 2].sell, each) for n, each in enumerate(wanted)])
    assert sorted(sale.outcome for sale in sales) == [LIMIT] * 4 + [SOLD] * 4
    assert services.rounds.left(round) == 16


@pytest.mark.parametrize("name", ["watched", "fenced", "fused"])
def test_a_lock_that_was_lost_sells_no_unit_above_the_limit(services: Services, name: str) -> None:
    round = services.rounds.start("apple", name, 5, {"per_buyer": 1})

    def press_again() -> None:
        lease_runs_out(services, Keys("apple", round.number).lock)
        mode(services, round).sell(order(round, buyer="A"))

    late = mode(services, round, HandClock(Once(press_again))).sell(order(round, buyer="A"))
    assert late.outcome in (LIMIT, Outcome.BUSY)
    assert len(sold_orders(services, round)) == 1


def test_watch_notices_when_the_counter_alone_has_changed(services: Services) -> None:
    """The counter is written during a repair from the ledger."""
    round = services.rounds.start("apple", "watch", 5, {"per_buyer": 1})
    counter = Keys("apple", round.number).bought("A")
    mended = Once(lambda: services.store.set(counter, 1))
    sale = mode(services, round, HandClock(mended)).sell(order(round, buyer="A"))
    assert (sale.outcome, sale.bought, sale.conflicts) == (LIMIT, 1, 1)


def test_decr_gives_back_what_the_limit_refuses(services: Services) -> None:
    round = services.rounds.start("apple", "decr", 5, {"per_buyer": 2})
    other = Once(lambda: mode(services, round).sell(order(round, buyer="A")))
    sale = mode(services, round, HandClock(other)).sell(order(round, 2, buyer="A"))
    assert (sale.outcome, sale.bought, sale.left) == (LIMIT, 1, 4)
    assert services.rounds.left(round) == 4
