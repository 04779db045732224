"""Read a round's state from store and database, to check the audit against it.

It uses neither the shop's code that reads its books nor its sums, so that their errors are found.
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
    """A round's units.

    `marked`: the audit must say that the store has lost data of it. `mended`: it was repaired.
    """

    left: int
    held: int
    marked: bool
    mended: bool = False


class StateReader:
    """Reads the state; used by several threads."""

    def __init__(self, store: Callable[[], redis.Redis], url: str) -> None:
        """`store` returns a new connection to the present store; `url` is the database's."""
        self.store = store
        self.engine = create_engine(url, poolclass=NullPool)

    def look(self, item: str, number: int, mode: str) -> StoredUnits | None:
        """Return a round's units; None if they are missing, or unknown."""
        try:
            left, held, (marked, mended), letters = self._look_into_store(item, number)
            with self.engine.connect() as sql:
                round = {"item": item, "round": number}
                booked = set(sql.execute(BOOKED, round).scalars())
                if in_sql(mode):
                    rows = sql.execute(COUNTED, round).all()
                    if len(rows) != 1:  # begun twice at once: only the audit knows which row counts
                        return None
                    started, left = rows[0]
                    left += sql.execute(FREE, round | {"started": started}).scalar_one()
                    held = {row.id: row.quantity for row in sql.execute(HELD, round)}
        except (redis.RedisError, SQLAlchemyError, Unreadable):
            return None
        if left is None or letters:  # a dead letter's sale may be held as well
            return None
        # A hold that is paid for and booked is sold, even if the store has lost the end.
        return StoredUnits(
            left, sum(units for id, units in held.items() if id not in booked), marked, mended
        )

    def _look_into_store(
        self, item: str, number: int
    ) -> tuple[int | None, dict[str, int], tuple[bool, bool], bool]:
        """Read in one step: a unit that moves from stock to hold meanwhile is in one of them."""
        names = Keys(item, number)
        with self.store() as client:
            pipe = client.pipeline(transaction=True)
            pipe.get(names.ended)
            pipe.get(names.stock)
            pipe.xrange(names.holds)
            pipe.hvals(names.held)
            pipe.exists(names.lacks, keys.lacks(item))
            pipe.exists(names.mended)
            ended, running, taken, held, lacks, mended = pipe.execute()
            letters = dead_letters.of_round(client, item, number).remaining
        units = running if ended is None else ended
        sales = [fields.get(b"sale", b"") for _, fields in taken] + held
        orders = [Order.decode(sale) for sale in sales]
        return (
            None if units is None else int(units),
            {order.id: order.quantity for order in orders},
            (bool(lacks), bool(mended)),
            bool(letters),
        )
