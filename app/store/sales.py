"""Sales as they stand in the store: read from a stream's entry, and forgotten once booked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import redis

from app.domain import Order, Unreadable
from app.store import lua
from app.store.keys import Keys
from app.store.rounds import GROUP

KEY_LIFE = 24 * 3600  # s for which an idempotency key is remembered after its order is confirmed


def read(names: Keys, fields: Mapping[bytes, bytes]) -> Order:
    """The sale in an entry of a round's stream. Raises Unreadable, also for another round's."""
    if b"sale" not in fields:
        raise Unreadable("The entry has no field named sale.")
    order = Order.decode(fields[b"sale"])
    if (order.item, order.round) != (names.item, names.number):
        raise Unreadable(f"It is a sale of another round: {order.item[:32]}, {order.round}.")
    return order


def let_go(store: redis.Redis, names: Keys, sold: Mapping[bytes, Order]) -> None:
    """Of a round's sales, by their entries' ids, that are in the database now. All in one step."""
    store.register_script(lua.source("let_go"))(
        keys=[
            names.sales,
            *(names.order(order.id) for order in sold.values()),
            *(names.key(order.key) for order in sold.values()),
        ],
        args=[GROUP, KEY_LIFE, *sold],
    )


def remember(store: redis.Redis, orders: Sequence[Order]) -> None:
    """Let the store know for a day under which keys these were sold: the books are right."""
    pipe = store.pipeline(transaction=False)
    for order in orders:
        pipe.set(Keys(order.item, order.round).key(order.key), order.encode(), ex=KEY_LIFE)
    pipe.execute()
