"""Sales in the store: read from a stream's entry, and deleted once booked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import redis

from app.domain import Order, Round, Stands, Unreadable
from app.store import keys, lua
from app.store.clients.cluster import Cluster
from app.store.keys import Keys
from app.store.rounds import GROUP

AT_ONCE = 1_000  # keys of one look at many
KEY_LIFE = 24 * 3600  # s for which an idempotency key is remembered after its order is confirmed


def read(names: Keys, fields: Mapping[bytes, bytes]) -> Order:
    """Return the sale in an entry of a round's stream.

    Raises Unreadable, also for a sale of another round.
    """
    if b"sale" not in fields:
        raise Unreadable("The entry has no field named sale.")
    order = Order.decode(fields[b"sale"])
    if (order.item, order.round) != (names.item, names.number):
        raise Unreadable(f"It is a sale of another round: {order.item[:32]}, {order.round}.")
    return order


def let_go(store: redis.Redis, names: Keys, sold: Mapping[bytes, Order]) -> None:
    """Delete sales that are in the database now, by their entries' ids, and count them.

    All in one step.
    """
    store.register_script(lua.source("let_go"))(
        keys=[
            names.sales,
            keys.booked(names.item),
            *(names.order(order.id) for order in sold.values()),
            *(names.key(order.key) for order in sold.values()),
        ],
        args=[GROUP, KEY_LIFE, names.number, *sold],
    )


def let_go_of(store: redis.Redis, item: str, rounds: Mapping[int, Round]) -> Iterator[Order]:
    """Yield the orders of these rounds that the store has deleted but still knows by their keys."""
    node = store.topology.node_of(keys.newest(item)) if isinstance(store, Cluster) else store
    for name in node.scan_iter(match=Keys(item, 0).key("*"), count=AT_ONCE):
        with suppress(Unreadable):
            order = Order.decode(node.get(name) or b"")
            if (round := rounds.get(order.round)) is None:
                continue
            hold = Keys.of(round).hold(order.id)
            replies: list[Any] = store.mget(keys.order(item, order.id), hold)
            waits, ended = replies
            is_sold = ended.startswith(Stands.PAID.encode()) if ended else not round.hold
            if is_sold and not waits:
                yield order


def remember(store: redis.Redis, orders: Sequence[Order]) -> None:
    """Write the keys of these orders into the store for a day: the books are right."""
    pipe = store.pipeline(transaction=False)
    for order in orders:
        pipe.set(Keys(order.item, order.round).key(order.key), order.encode(), ex=KEY_LIFE)
    pipe.execute()


def readable(round: Round, payloads: Iterable[bytes]) -> list[Order]:
    """Return those sales of a round that can be read."""
    orders = []
    for payload in payloads:
        with suppress(Unreadable):
            orders.append(read(Keys(round.item, round.number), {b"sale": payload}))
    return orders
