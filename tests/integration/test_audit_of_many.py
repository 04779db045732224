"""An audit lets the database count, and still finds each order that contradicts another record."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import pytest

from app.bootstrap import Services
from app.domain import Order, Round
from app.service.audit import judge
from app.store import dead_letters
from app.store.keys import Keys
from app.store.sql import orders
from app.store.sql.orders import Booked
from tests.support.purchases import order

pytestmark = pytest.mark.usefixtures("database_url")
RUNS_ON = ["valkey"]  # it is the database that counts
MANY = 20_000
ROOM = 1 << 20  # bytes; the ids and keys of so many orders take ten times as many


@pytest.fixture
def round(services: Services) -> Round:
    return services.rounds.start("apple", "atomic", MANY, {})


def write(services: Services, booked: list[Order]) -> None:
    with services.servers.sessions.begin() as session:
        orders.insert_missing(session, booked)


def test_it_keeps_no_orders_in_memory(services: Services, round: Round) -> None:
    write(services, [order(round) for _ in range(MANY)])
    services.auditor.audit(round)  # prepared statements are reused
    tracemalloc.start()
    try:
        audit = services.auditor.audit(round)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (audit.sold, audit.orders, audit.orders_without_sale) == (MANY, MANY, MANY)
    assert peak < ROOM


def test_it_finds_the_same_as_who_reads_every_order(services: Services, round: Round) -> None:
    """The database sums only the orders that match no record in the store."""
    twice, other, late, away, dead, odd = (order(round) for _ in range(6))
    same = replace(order(round), key=other.key)
    booked = [
        *(order(round, quantity=3) for _ in range(4)),
        *(order(round, key="pressed") for _ in range(3)),  # two more than a key may buy
        twice,  # and not acknowledged yet
        replace(late, quantity=5, key="mixed up"),
        order(round, key="mixed up"),
        other,
        dead,
        replace(order(round), round=round.number + 1, key=away.key),  # not ours
        replace(away, round=round.number + 1),  # nor this one
    ]
    write(services, booked)
    names = Keys.of(round)
    for sale in (twice, late, same, away, dead, replace(odd, key="a\0b"), replace(away, key="x")):
        id: Any = services.store.xadd(names.sales, {"sale": sale.encode()})
        if sale is dead:
            fields = {b"sale": sale.encode()}
            dead_letters.add(services.store, names, id, fields, "refused", 0, "")
    books = services.rounds.ledgers.of(round).snapshot(round)
    with services.servers.sessions() as session:
        every = orders.of_round(session, round.item, round.number)
    rows = {row.id: row for row in every}
    assert len(books.rows) < len(rows)
    found = judge(round, books, [], quiet=True)
    assert found == judge(round, replace(books, rows=rows, others=Booked()), [], quiet=True)
    assert (found.sold, found.orders, found.duplicate_keys) == (23, 12, 3)
