"""Helpers for tests of selling: orders, a clock with a hook, many buyers at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TypeVar

import uuid_utils
from sqlalchemy import select

from app.bootstrap import Services
from app.domain import Clock, NotOnSale, Order, Outcome, Round
from app.locks import LOCKS
from app.modes import MODES, Mode, Way
from app.service.fulfil import Fulfil
from app.service.purchase import Purchase
from app.store import rounds
from app.store.sql.orders import OrderRow
from tests.support.servers import until

Done = TypeVar("Done")
NAMES = [name for name in MODES if name != "lock"] + [f"lock:{recipe}" for recipe in LOCKS]
IN_DATABASE = [name for name in NAMES if Way.of(name).in_database]
SOUND = [name for name in NAMES if not Way.of(name).exhibit]


# Each mode over SQLite, those that sell in the database over PostgreSQL, too: for parametrize, with
# `indirect=["database_url"]`.
ON_DATABASES = [(name, "sqlite") for name in NAMES]
ON_DATABASES += [(name, "postgresql") for name in IN_DATABASE]


def order(round: Round, quantity: int = 1, key: str | None = None, buyer: str = "") -> Order:
    id = str(uuid_utils.uuid7())
    now = int(time.time() * 1000)
    return Order(id, round.item, round.number, quantity, 60, buyer, key or id, now)


def mode(services: Services, round: Round, clock: Clock | None = None) -> Mode:
    return Way.of(round.mode).mode(services.servers, clock or Clock(), round)


def in_stream(services: Services, round: Round) -> list[Order]:
    """Return the sales that wait in a round's stream."""
    return [Order.decode(sale) for sale in rounds.account(services.store, round).sales]


def sold_orders(services: Services, round: Round) -> list[Order]:
    """Return the sales of a round where its mode writes them: in the stream, or in the database."""
    if not Way.of(round.mode).in_database:
        return in_stream(services, round)
    with services.servers.sessions() as session:
        there = OrderRow.item == round.item, OrderRow.round == round.number
        return [row.order() for row in session.scalars(select(OrderRow).where(*there))]


def at_once(deeds: Sequence[Callable[[], Done]]) -> list[Done]:
    """Do all of them at the same time, each in a thread of its own."""
    with ThreadPoolExecutor(len(deeds)) as pool:
        return [future.result(60) for future in [pool.submit(deed) for deed in deeds]]


def fulfil_all(fulfil: Fulfil) -> None:
    """Move everything that is in the streams."""
    stop = threading.Event()
    stop.set()
    fulfil.run(stop)


class HandClock(Clock):
    """Calls `hand` where its owner would sleep: in the gap of a mode, between polls of a lock."""

    def __init__(self, hand: Callable[[], object]) -> None:
        self.hand = hand

    def sleep(self, seconds: float) -> None:
        self.hand()
        super().sleep(min(seconds, 0.01))


class Once:
    """A hook that acts the first time only."""

    def __init__(self, deed: Callable[[], object]) -> None:
        self.deed = deed
        self.done = False

    def __call__(self) -> None:
        if not self.done:
            self.done = True
            self.deed()


@contextmanager
def buying(shop: Purchase) -> Iterator[None]:
    """A purchase is under way, and its buyer thinks."""
    thinking, go_on = threading.Event(), threading.Event()

    def think() -> None:
        thinking.set()
        go_on.wait(10)

    shop.running("apple")
    shop.running_rounds.selling["apple"].mode.clock = HandClock(think)
    buyer = threading.Thread(target=shop.buy, args=("apple", 1))
    buyer.start()
    assert thinking.wait(10)
    try:
        yield
    finally:
        go_on.set()
        buyer.join(10)


def sold_exactly_while_switched(
    services: Services, shops: list[Purchase], names: list[str]
) -> None:
    """Let twelve buyers buy at these workers while the mode is switched: each audit is exact."""
    stop = threading.Event()
    rounds = [services.rounds.start("apple", names[0], 20_000, {})]

    def buy(number: int) -> int:
        sold = 0
        while not stop.is_set():
            with suppress(NotOnSale):  # for a moment, after a round in the database
                sold += shops[number % len(shops)].buy("apple", 1).sale.outcome is Outcome.SOLD
        return sold

    with ThreadPoolExecutor(12) as pool:
        buyers = [pool.submit(buy, number) for number in range(12)]
        try:
            for name in names[1:]:
                before = services.rounds.left(rounds[-1])
                until(lambda: services.rounds.left(rounds[-1]) != before)
                rounds.append(services.rounds.start("apple", name, 20_000, {}))
            last = rounds[-1]
            until(lambda: services.rounds.left(last) != last.stock)
        finally:
            stop.set()
        sold = sum(buyer.result(30) for buyer in buyers)
    fulfil_all(services.fulfil)
    until(lambda: all(services.auditor.audit(round).settled for round in rounds))
    audits = [services.auditor.audit(round) for round in rounds]
    assert [audit.verdict for audit in audits] == ["exact"] * len(rounds)
    assert sum(audit.sold for audit in audits) == sold
