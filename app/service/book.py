"""Orders as their buyers see them: recorded while in the store, confirmed once in the database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import redis
from sqlalchemy.orm import Session, sessionmaker

from app.domain import ITEMS, DatabaseAway, Order, StoreAway, UnknownOrder, Unreadable
from app.store import db, keys, orders
from app.store.redis import answering
from app.text import Text

MOST = 50  # orders on one page


@dataclass(frozen=True)
class Entry:
    order: Order
    confirmed: bool


class OrderBook:
    def __init__(self, store: redis.Redis, sessions: sessionmaker[Session]) -> None:
        self.store = store
        self.sessions = sessions

    def find(self, id: str) -> Entry:
        """One order. Asks the store first, so a sale is found with the database away.

        Raises UnknownOrder; StoreAway or DatabaseAway when the one that may have it is away;
        Unreadable when it is another version's.
        """
        recorded, trouble = self._recorded([id])
        if recorded:
            return Entry(recorded[0], confirmed=False)
        with db.answering(), self.sessions() as session:
            order = orders.find(session, id)
        if order:
            return Entry(order, confirmed=True)
        if trouble:
            raise trouble
        raise UnknownOrder(Text("There is no order %(id)s.", id=id))

    def mine(self, buyer: str, recent: Iterable[str]) -> tuple[list[Entry], bool]:
        """The buyer's orders, newest first, and whether some may be missing.

        `recent` are ids from the buyer's cookie: those still in the store are found by them.
        """
        recorded, trouble = self._recorded(recent)
        found = {order.id: Entry(order, confirmed=False) for order in recorded}
        partial = trouble is not None
        try:
            with db.answering(), self.sessions() as session:
                confirmed = orders.of_buyer(session, buyer, MOST) if buyer else []
            found |= {order.id: Entry(order, confirmed=True) for order in confirmed}
        except DatabaseAway:
            partial = True
        newest_first = sorted(found.values(), key=lambda entry: entry.order.id, reverse=True)
        return newest_first[:MOST], partial

    def _recorded(self, ids: Iterable[str]) -> tuple[list[Order], StoreAway | Unreadable | None]:
        """Orders in the store; and an error, when a node that may have more of them is away, or one
        of them cannot be read."""
        try:
            with answering():
                pipe = self.store.pipeline(transaction=False)
                for id in ids:
                    for item in ITEMS:  # an order's id does not tell its item
                        pipe.get(keys.order(item, id))
                answers = pipe.execute(raise_on_error=False)
        except StoreAway as error:
            return [], error
        errors = [answer for answer in answers if isinstance(answer, redis.RedisError)]
        found = list[Order]()
        trouble: StoreAway | Unreadable | None = None
        for answer in answers:
            try:
                if isinstance(answer, bytes):
                    found.append(Order.decode(answer))
            except Unreadable as error:
                trouble = error
        if errors:
            trouble = StoreAway(f"The store does not answer: {errors[0]}")
        return found, trouble
