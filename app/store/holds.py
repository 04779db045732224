"""Holds in the store: settled by whoever comes first, and found when they are due.

A mode takes a hold as it takes a sale, only into another stream; the id that the store gives to the
entry is the moment from which it runs. Who first looks at the round's holds afterwards enters it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import redis

from app.domain import Hold, Order, Round, Stands, StoreAway, Unreadable
from app.store import clock, keys, lua, rounds
from app.store.keys import Keys
from app.store.sales import KEY_LIFE

BACK_MS = 1_000  # in which units of a hold that is over should be in stock again


def settle(store: redis.Redis, round: Round, order: Order, stands: Stands) -> Hold:
    """How the hold stands now: as asked for, if that came first and in time. HELD only looks.

    Raises StoreAway when the store has lost something of the item, and this is not known to be
    over: the books may have it as an order.
    """
    names = Keys(round.item, round.number)
    asked = "LOOK" if stands is Stands.HELD else stands.value
    found = store.register_script(lua.source("settle"))(
        keys=[
            names.holds,
            names.held,
            names.due,
            names.hold(order.id),
            names.sales,
            names.order(order.id),
            names.key(order.key),
            keys.lacks(round.item),
        ],
        args=[order.id, round.hold, asked, KEY_LIFE, BACK_MS],
    )
    if found is None:  # had it ended in any other way, nobody would know of this order any more
        return Hold(order, Stands.PAID, 0, 0)
    said, until, now, owed = found
    if said == b"LACKS":
        raise StoreAway(
            f"The store has lost something of {round.item}. What is held of it can be paid for, "
            "or given up, once that is mended."
        )
    return Hold(order, Stands(said.decode()), int(until), int(now), bool(owed))


def due(store: redis.Redis, round: Round, most: int) -> list[Order]:
    """Up to `most` that are past their deadline, or over and owed to the stock for too long."""
    names = Keys(round.item, round.number)
    sales: list[Any] = store.register_script(lua.source("due"))(
        keys=[names.holds, names.held, names.due, keys.lacks(round.item)],
        args=[round.hold, most],
    )
    return readable(sales)


def next_due(store: redis.Redis, round: Round, most: int) -> list[tuple[Order, int]]:
    """Up to `most` that anybody has entered, with the ms until each is to be looked at."""
    names = Keys(round.item, round.number)
    moments: Any = store.zrange(names.due, 0, most - 1, withscores=True)
    sales: Any = store.hmget(names.held, [id for id, _ in moments]) if moments else []
    now = clock.now(store)
    found = [(sale, int(at) - now) for sale, (_, at) in zip(sales, moments, strict=True) if sale]
    return [(order, ms) for sale, ms in found for order in readable([sale])]


def put_back_ended(store: redis.Redis, round: Round, order: Order) -> bool:
    """Into the stock of a round that has ended: nobody writes that blindly. False: it runs."""
    names = Keys(round.item, round.number)
    script = store.register_script(lua.source("put_back"))
    places = [names.held, names.bought(order.buyer), names.ended]
    return bool(script(keys=places, args=[order.id, order.quantity]))


def booked(store: redis.Redis, orders: Sequence[Order]) -> None:
    """Let them be paid for, whatever the store says of their holds: they are in the books.

    While the item has the mark of a loss: none of its holds ends then.
    """
    for item, number in {(order.item, order.round) for order in orders}:
        try:
            round = rounds.find(store, item, number)
        except Unreadable:
            round = None  # a newer version's, and perhaps one with holds
        if round is None or round.hold:
            ids = [order.id for order in orders if (order.item, order.round) == (item, number)]
            _booked(store, Keys(item, number), ids)


def _booked(store: redis.Redis, names: Keys, ids: Sequence[str]) -> None:
    fresh: Any = store.xrange(names.holds)
    wanted = frozenset(ids)
    pipe = store.pipeline()
    # The stream first: what somebody else enters meanwhile is then found in `held`.
    for entry, fields in fresh:
        if any(order.id in wanted for order in readable([fields.get(b"sale", b"")])):
            pipe.xdel(names.holds, entry)
    pipe.hdel(names.held, *ids)
    pipe.zrem(names.due, *ids)
    pipe.unlink(*(names.order(id) for id in ids))
    for id in ids:  # (One that no end is known of is paid for, when it is held no more.)
        pipe.set(names.hold(id), f"{Stands.PAID.value} 0", ex=KEY_LIFE, xx=True)
    pipe.execute()


def readable(sales: list[bytes]) -> list[Order]:
    """Those that can be read; the audit tells of the others."""
    found = []
    for sale in sales:
        try:
            found.append(Order.decode(sale))
        except Unreadable:
            continue
    return found
