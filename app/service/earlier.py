"""What an idempotency key has bought before, as far as store and database know."""

from __future__ import annotations

from app.domain import Lacking, Order, Outcome, Round, Sale, UnknownRound, Unreadable
from app.service.answer import Answer
from app.service.rounds import Rounds, in_database
from app.store import db, stock
from app.store.keys import Keys
from app.store.redis import Wire, answering, metered
from app.store.servers import Servers


class Earlier:
    """Each answer carries the order that was made then, and that order's round."""

    def __init__(self, servers: Servers, rounds: Rounds) -> None:
        self.servers = servers
        self.store = servers.store
        self.rounds = rounds

    def order(self, item: str, key: str) -> Order | None:
        """As far as the store knows. Raises redis.RedisError, Unreadable."""
        sale = self.store.get(Keys(item, 0).key(key))
        return Order.decode(sale) if sale else None

    def in_store(self, item: str, key: str, wire: Wire) -> Answer | None:
        """As far as the store knows; what it cost to ask is added to `wire`.

        Raises StoreAway, Unreadable.
        """
        with answering(), metered(wire):
            order = self.order(item, key)
        return self._answer(order, wire) if order else None

    def anywhere(self, item: str, key: str) -> Answer | None:
        """For an item that is not on sale (to this buyer). Raises DatabaseAway too."""
        with answering():
            order = self.order_anywhere(item, key)
        return self._answer(order, Wire()) if order else None

    def order_anywhere(self, item: str, key: str) -> Order | None:
        """Ask the store, and the database where the newest round sells there.

        Raises redis.RedisError, StoreAway, DatabaseAway, Unreadable.
        """
        if known := self.order(item, key):
            return known
        last = self.rounds.newest(item)
        if last is None or not in_database(last.mode):
            return None
        with db.answering(), self.servers.sessions() as session:
            return stock.bought(session, item, key)

    def _answer(self, order: Order, wire: Wire) -> Answer:
        with answering(), metered(wire):
            key = Keys(order.item, 0).key(order.key)
            self.servers.copied(order.item, key)  # it may be why its buyer asks again
        try:
            round = self.rounds.find(order.item, order.round)
        except (UnknownRound, Lacking, Unreadable):  # the store knows the order, not its round
            round = Round(order.item, order.round, 0, "")
        return Answer(Sale(Outcome.SOLD, order=order), round, wire)
