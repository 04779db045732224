"""What remains of a round in the store, and the one step in which what it lost is written again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import redis

from app.domain import Order, Round, Unreadable
from app.store import keys, lua
from app.store.keys import Keys
from app.store.rounds import GROUP
from app.store.sales import KEY_LIFE

Taken = tuple[
    str, bytes
]  # a hold: its entry's id, "" if it was settled or looked at since; its sale


@dataclass(frozen=True, slots=True)
class Told:
    """What workers have told buyers of, as far as they knew when something lacked.

    `paid` are the ids of what was held and then paid for.
    """

    orders: list[Order]
    paid: frozenset[str]


@dataclass(frozen=True, slots=True)
class Remains:
    """`left` None: no stock. `payloads` are the sales not yet in the database.

    `recorded` are all that were ever written, `taken` what is neither left nor paid for. `seen` is
    compared when something is written: nobody may have been here since.
    """

    round: Round | None
    left: int | None
    payloads: list[bytes]
    recorded: int
    taken: list[Taken]
    seen: bytes


@dataclass(frozen=True, slots=True)
class Written:
    """What is to be written of a round that has ended.

    `left` None: it sells elsewhere, and only its record is written. `paid` are holds, each with its
    entry's id, that are orders by the books, or come back as such.
    """

    round: Round
    left: int | None
    recorded: int
    brought_back: Sequence[Order]
    paid: Sequence[tuple[str, Order]]


def look(store: redis.Redis, item: str, number: int) -> Remains:
    """In one step. Raises Unreadable for a record that is not for us to write over."""
    names = Keys(item, number)
    pipe = store.pipeline()
    pipe.mget(names.record, names.ended)
    pipe.xrange(names.sales)
    pipe.xlen(keys.dead_letters(item))
    pipe.xrange(names.holds)
    pipe.hvals(names.held)
    pipe.xinfo_stream(names.sales)
    said: list[Any] = pipe.execute(raise_on_error=False)
    for answer in said[:-1]:
        if isinstance(answer, redis.RedisError):
            raise answer
    (record, ended), entries, dead, fresh, held, info = said
    if isinstance(info, redis.ResponseError):  # no such key
        info = {"last-generated-id": b"", "entries-added": ""}
    last, added = info["last-generated-id"], info["entries-added"]
    taken = [(id.decode(), fields.get(b"sale", b"")) for id, fields in fresh]
    taken += [("", sale) for sale in held]
    return Remains(
        Round.decode(record) if record else None,
        None if ended is None else int(ended),
        [fields.get(b"sale", b"") for _, fields in entries],
        int(added or 0),
        taken,
        b" ".join(_bytes(each) for each in (ended or b"", last, added, dead, len(taken))),
    )


def write(
    store: redis.Redis, lack: bytes, remains: Remains, written: Written, mended: bytes
) -> bool:
    """False: what the item lacks, or the round, has changed since; nothing was written."""
    round = written.round
    names = Keys(round.item, round.number)
    back, paid = written.brought_back, written.paid
    done = store.register_script(lua.source("mend"))(
        keys=[
            *(keys.lacks(round.item), names.record, names.stock, names.ended, names.sales),
            *(keys.dead_letters(round.item), keys.streams(round.item), keys.newest(round.item)),
            *(names.lacks, names.mended, names.holds, names.held, names.due),
            *(name for each in back for name in (names.order(each.id), names.key(each.key))),
            *(names.hold(order.id) for _, order in paid),
        ],
        args=[
            *(lack, remains.seen, round.encode(), round.number),
            *("" if written.left is None else written.left, written.recorded, GROUP, mended),
            *(KEY_LIFE, len(back)),
            *(order.encode() for order in back),
            *(word for entry, order in paid for word in (order.id, entry)),
        ],
    )
    return bool(done)


def told(store: redis.Redis, item: str) -> Told:
    """Without the unpaid holds of which the store knows how they have ended."""
    found: Any = store.hgetall(keys.told(item))
    orders, paid = {}, set()
    for field, sale in found.items():
        try:
            order = Order.decode(sale)
        except Unreadable:
            continue  # a newer version's: it stays there for that one
        if field == keys.paid(order.id).encode():
            paid.add(order.id)
            orders[order.id] = order
        elif not store.exists(Keys(item, order.round).hold(order.id)):
            orders[order.id] = order
    return Told(list(orders.values()), frozenset(paid))


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
