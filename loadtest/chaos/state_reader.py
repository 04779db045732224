"""Read a round's state from store and database, to check the audit against it.

Neither the shop's code that reads its books is used here nor its sums: who lies there is found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import redis
from sqlalchemy import NullPool, create_engine, text
from sqlalchemy.exc import SQLAlchemyError

from app.domain import Order, Unreadable
from app.store import dead_letters, keys
from app.store.keys import Keys
from loadtest.chaos.promises import in_sql

COUNTED = text("SELECT started, units FROM stock WHERE item = :item AND round = :round")
FREE = text(
    "SELECT COUNT(*) FROM units"
    ' WHERE item = :item AND round = :round AND started = :started AND "order" IS NULL'
)
HELD = text(
    "SELECT id, quantity FROM holds"
    " WHERE item = :item AND round = :round AND NOT back AND stands <> 'PAID'"
)
BOOKED = text("SELECT id FROM orders WHERE item = :item AND round = :round")


@dataclass(frozen=True, slots=True)
class StoredUnits:
    """Units. `marked`: the audit has to say that the store has lost something of it."""

    left: int
    held: int
    marked: bool


class StateReader:
    """Used by several threads."""

    def __init__(self, store: Callable[[], redis.Redis], url: str) -> None:
        """`store` is a new connection to whichever server is the store; `url` the database's."""
        self.store = store
        self.engine = create_engine(url, poolclass=NullPool)

    def look(self, item: str, number: int, mode: str) -> StoredUnits | None:
        """None: it is not there, or cannot be told."""
        try:
            left, held, marked, letters = self._look_into_store(item, number)
            with self.engine.connect() as sql:
                round = {"item": item, "round": number}
                booked = set(sql.execute(BOOKED, round).scalars())
                if in_sql(mode):
                    rows = sql.execute(COUNTED, round).all()
                    if len(rows) != 1:  # of two who began it at once the audit knows whose it is
                        return None
                    started, left = rows[0]
                    left += sql.execute(FREE, round | {"started": started}).scalar_one()
                    held = {row.id: row.quantity for row in sql.execute(HELD, round)}
        except (redis.RedisError, SQLAlchemyError, Unreadable):
            return None
        if left is None or letters:  # a letter may be of a sale that is held as well
            return None
        # What is paid for and booked is sold, whatever a store has forgotten of it.
        return StoredUnits(
            left, sum(units for id, units in held.items() if id not in booked), marked
        )

    def _look_into_store(
        self, item: str, number: int
    ) -> tuple[int | None, dict[str, int], bool, bool]:
        """In one step: what moves from stock to hold meanwhile is seen in one of them."""
        names = Keys(item, number)
        with self.store() as client:
            pipe = client.pipeline(transaction=True)
            pipe.get(names.ended)
            pipe.get(names.stock)
            pipe.xrange(names.holds)
            pipe.hvals(names.held)
            pipe.exists(names.lacks, keys.lacks(item))
            ended, running, taken, held, lacks = pipe.execute()
            letters = dead_letters.of_round(client, item, number).remaining
        units = running if ended is None else ended
        sales = [fields.get(b"sale", b"") for _, fields in taken] + held
        orders = [Order.decode(sale) for sale in sales]
        return (
            None if units is None else int(units),
            {order.id: order.quantity for order in orders},
            bool(lacks),
            bool(letters),
        )
