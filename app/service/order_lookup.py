"""Find orders as their buyers see them.

An order is held while it is to be paid for, recorded while it is in the store, and confirmed once
it is in the database.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import redis
from sqlalchemy.orm import Session, sessionmaker

from app.domain import (
    ITEMS,
    DatabaseAway,
    Hold,
    NotBooked,
    Order,
    ShopError,
    Stands,
    StoreAway,
    UnknownOrder,
    Unreadable,
)
from app.service.holds import Holds
from app.store import keys
from app.store.clients.redis import answering
from app.store.sql import db, orders
from app.store.sql import holds as sql_holds
from app.text import Text

MOST = 50  # orders on one page


@dataclass(frozen=True)
class OrderEntry:
    """An order with its state. `confirmed`: it is in the database.

    Otherwise it is a sale that waits in the store, a `hold` that is not paid for, or a sale that
    was `dropped`: it could not be booked.
    """

    order: Order
    confirmed: bool
    hold: Hold | None = None
    dropped: bool = False


class OrderList(NamedTuple):
    """Orders, newest first; `partial`: some may be missing."""

    entries: list[OrderEntry]
    partial: bool


class InStore(NamedTuple):
    """Orders in the store, and those that were dropped.

    `lacking` is an error when there may be more: a node that may have them is away, or a record
    cannot be read.
    """

    orders: list[Order]
    dropped: list[NotBooked]
    lacking: ShopError | None


class OrderLookup:
    """Finds orders by id and by buyer, in store and database."""

    def __init__(self, store: redis.Redis, sessions: sessionmaker[Session], holds: Holds) -> None:
        self.store = store
        self.sessions = sessions
        self.holds = holds

    def find(self, id: str) -> OrderEntry:
        """Return one order. Asks the store first, so a sale is found with the database away.

        Raises UnknownOrder, NotBooked; StoreAway or DatabaseAway when the one that may have the
        order is away; Unreadable when the store has it in a form that cannot be read here.
        """
        recorded, dropped, lacking = self._recorded([id])
        if recorded:
            return self._unconfirmed(recorded[0])
        with db.answering(), self.sessions() as session:
            order = orders.find(session, id)
            held = None if order else sql_holds.find(session, id)
        if order:
            return OrderEntry(order, confirmed=True)
        if held:
            return self._unconfirmed(held)
        for error in (*dropped, lacking):
            if error:
                raise error
        raise UnknownOrder(Text("There is no order %(id)s.", id=id))

    def mine(self, buyer: str, recent: Iterable[str]) -> OrderList:
        """Return the buyer's orders.

        `recent` are ids from the buyer's cookie: they find the orders that are still in the store.
        """
        recorded, dropped, lacking = self._recorded(recent)
        partial = lacking is not None
        try:
            with db.answering(), self.sessions() as session:
                confirmed = orders.of_buyer(session, buyer, MOST) if buyer else []
                recorded += sql_holds.of_buyer(session, buyer, MOST) if buyer else []
        except DatabaseAway:
            confirmed, partial = [], True
        entries = {each.order.id: OrderEntry(each.order, False, dropped=True) for each in dropped}
        entries |= {order.id: OrderEntry(order, confirmed=True) for order in confirmed}
        for order in recorded:
            try:
                if order.id not in entries:
                    entries[order.id] = self._unconfirmed(order)
            except (StoreAway, DatabaseAway, Unreadable):
                partial = True
        newest_first = sorted(entries.values(), key=lambda entry: entry.order.id, reverse=True)
        return OrderList(newest_first[:MOST], partial)

    def _unconfirmed(self, order: Order) -> OrderEntry:
        """Return the entry of an order in the store, with its hold.

        Raises StoreAway, DatabaseAway.
        """
        hold = self.holds.look(order)
        return OrderEntry(order, False, None if hold and hold.stands is Stands.PAID else hold)

    def _recorded(self, ids: Iterable[str]) -> InStore:
        try:
            with answering():
                pipe = self.store.pipeline(transaction=False)
                for id in ids:
                    for item in ITEMS:  # an order's id does not tell its item
                        pipe.get(keys.order(item, id))
                answers = pipe.execute(raise_on_error=False)
        except StoreAway as error:
            return InStore([], [], error)
        recorded: list[Order] = []
        dropped: list[NotBooked] = []
        lacking: ShopError | None = None
        for answer in answers:
            if isinstance(answer, redis.RedisError):
                lacking = StoreAway(f"The store does not answer: {answer}")
            elif isinstance(answer, bytes):
                try:
                    recorded.append(Order.decode(answer))
                except NotBooked as error:
                    dropped.append(error)
                except Unreadable as error:
                    lacking = error
        return InStore(recorded, dropped, lacking)
