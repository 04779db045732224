"""Holds in the store: settled by the first caller, and found when they are due.

A mode takes a hold as it takes a sale, but writes it into another stream. The id that the store
gives to the entry is the moment from which the hold runs. The next process that looks at the
round's holds moves it from the stream into `held` and `due`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import redis

from app.domain import Due, Hold, Order, Round, Stands, StoreAway, Unreadable
from app.store import keys, lua, rounds
from app.store.clients import clock
from app.store.keys import Keys
from app.store.round_sales import RoundSales
from app.store.sales import KEY_LIFE

BACK_MS = 1_000  # in which units of a hold that is over should be in stock again
LONGEST_MS = 10_000  # between two tries to put them back


def settle(store: redis.Redis, round: Round, order: Order, stands: Stands) -> Hold:
    """Settle a hold as `stands` says, if that comes first and in time; return how it stands now.

    HELD only looks. Raises StoreAway when the store has lost data of the item and the end of this
    hold is unknown: the books may have it as an order.
    """
    names = Keys(round.item, round.number)
    word = "LOOK" if stands is Stands.HELD else stands.value
    reply = store.register_script(lua.source("settle"))(
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
        args=[order.id, round.hold, word, KEY_LIFE, BACK_MS],
    )
    if reply is None:  # unless it was paid, no record of this order would be left
        return Hold(order, Stands.PAID, 0, 0)
    state, until, now, owed = reply
    if state == b"LACKS":
        raise StoreAway(
            f"The store has lost something of {round.item}. What is held of it can be paid for, "
            "or given up, once that is mended."
        )
    return Hold(order, Stands(state.decode()), int(until), int(now), bool(owed))


def expire(store: redis.Redis, round: Round, most: int) -> list[bytes]:
    """Expire holds that are past their deadline; return up to `most` sales whose units are owed.

    The caller must put these units back: no other process gets them for BACK_MS, or for longer when
    several have failed before.
    """
    names = Keys(round.item, round.number)
    sales: list[bytes] = store.register_script(lua.source("expire"))(
        keys=[
            *(names.holds, names.held, names.due, keys.lacks(round.item)),
            *(names.hold(""), names.order(""), names.key("")),
        ],
        args=[round.hold, most, KEY_LIFE, BACK_MS, LONGEST_MS],
    )
    return sales


def next_due(store: redis.Redis, round: Round, most: int) -> list[Due]:
    """Return up to `most` holds that are in `held`, each with the moment of its next check."""
    names = Keys(round.item, round.number)
    moments: Any = store.zrange(names.due, 0, most - 1, withscores=True)
    sales: Any = store.hmget(names.held, [id for id, _ in moments]) if moments else []
    now = clock.now(store)
    due = [(sale, int(at) - now) for sale, (_, at) in zip(sales, moments, strict=True) if sale]
    return [Due(order, ms) for sale, ms in due for order in readable([sale])]


def put_back(
    store: redis.Redis,
    round: Round,
    orders: Sequence[Order],
    running: bool,
    owner: str = "",
    fence: int | None = None,
) -> bool:
    """Put the units of ended holds back, in one step: each hold's once.

    They go into the stock with which the round has ended or, if it may still be `running`, into the
    stock from which it sells. In that case no other process may overwrite the stock blindly:
    `owner` and `fence` prove that the caller has the lock. False: nothing was done.
    """
    names = Keys(round.item, round.number)
    sales = RoundSales(round, names)
    counters = (counter for order in orders for counter in sales.counter(order))
    done = store.register_script(lua.source("put_back"))(
        keys=[
            *(names.held, names.due, names.ended, names.stock if running else names.ended),
            *(names.lock, names.fence, *counters),
        ],
        args=[
            *(owner, "" if fence is None else fence),
            *(word for order in orders for word in (order.id, order.quantity)),
        ],
    )
    return bool(done)


def booked(store: redis.Redis, orders: Sequence[Order]) -> None:
    """Make these holds payable, whatever the store says of them: the books have them as orders.

    Call it while the item has the mark of a loss: none of its holds ends then.
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
    # The stream first: a hold that another process enters meanwhile is then found in `held`.
    for entry, fields in fresh:
        if any(order.id in wanted for order in readable([fields.get(b"sale", b"")])):
            pipe.xdel(names.holds, entry)
    pipe.hdel(names.held, *ids)
    pipe.zrem(names.due, *ids)
    pipe.unlink(*(names.order(id) for id in ids))
    for id in ids:  # (A hold with no known end that is no longer held is paid for.)
        pipe.set(names.hold(id), f"{Stands.PAID.value} 0", ex=KEY_LIFE, xx=True)
    pipe.execute()


def readable(sales: list[bytes]) -> list[Order]:
    """Return the holds that can be read; the audit counts the others."""
    sold = []
    for sale in sales:
        with suppress(Unreadable):
            sold.append(Order.decode(sale))
    return sold
