"""Read what remains of a damaged round in the store, and write its repair in one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import redis

from app.domain import NotBooked, Order, Round, Stands, Unreadable
from app.store import keys, lua
from app.store.keys import Keys
from app.store.rounds import GROUP
from app.store.sales import KEY_LIFE


class Taken(NamedTuple):
    """A hold. `entry` is its id in the stream, "" if it was settled or looked at since."""

    entry: str
    sale: bytes


class EndedHold(NamedTuple):
    """A hold that is over, and how it ended."""

    entry: str
    order: Order
    stands: Stands


@dataclass(frozen=True, slots=True)
class WitnessedSales:
    """Sales that workers had confirmed to buyers before a loss was found.

    `ended` says, by the order's id, how a hold has ended.
    """

    orders: list[Order]
    ended: Mapping[str, Stands]


@dataclass(frozen=True, slots=True)
class Remains:
    """The remains of a damaged round. `left` None: no stock.

    `payloads` are the sales not yet in the database, `recorded` counts all that were ever written,
    `taken` are units that are neither in stock nor paid for. A write compares `fingerprint`: it
    fails when the round has changed since.
    """

    round: Round | None
    left: int | None
    payloads: list[bytes]
    recorded: int
    taken: list[Taken]
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class Written:
    """A repair to write, of a round that has ended.

    `left` None: the round sells in the database, and only its record is written. Holds in `ended`
    that are PAID are orders by the books, or are restored as such. Other holds' units are in
    `left`.
    """

    round: Round
    left: int | None
    recorded: int
    brought_back: Sequence[Order]
    ended: Sequence[EndedHold]


def look(store: redis.Redis, item: str, number: int) -> Remains:
    """Read what is left, in one step.

    Raises Unreadable for a record that must not be overwritten.
    """
    names = Keys(item, number)
    pipe = store.pipeline()
    pipe.mget(names.record, names.ended)
    pipe.xrange(names.sales)
    pipe.xlen(keys.dead_letters(item))
    pipe.xrange(names.holds)
    pipe.hvals(names.held)
    pipe.xinfo_stream(names.sales)
    replies: list[Any] = pipe.execute(raise_on_error=False)
    for answer in replies[:-1]:
        if isinstance(answer, redis.RedisError):
            raise answer
    (record, ended), entries, dead, fresh, held, stream = replies
    if isinstance(stream, redis.ResponseError):  # no such key
        stream = {"last-generated-id": b"", "entries-added": ""}
    last, added = stream["last-generated-id"], stream["entries-added"]
    taken = [Taken(id.decode(), fields.get(b"sale", b"")) for id, fields in fresh]
    taken += [Taken("", sale) for sale in held]
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
    """Write the repair. False: the loss or the round has changed since; nothing was written."""
    round = written.round
    names = Keys(round.item, round.number)
    back, ended = written.brought_back, written.ended
    done = store.register_script(lua.source("mend"))(
        keys=[
            *(keys.lacks(round.item), names.record, names.stock, names.ended, names.sales),
            *(keys.dead_letters(round.item), keys.streams(round.item), keys.newest(round.item)),
            *(names.lacks, names.mended, names.holds, names.held, names.due),
            *(name for each in back for name in (names.order(each.id), names.key(each.key))),
            *(
                name
                for each in ended
                for name in (names.hold(each.order.id), *names.copies(each.order))
            ),
        ],
        args=[
            *(lack, remains.fingerprint, round.encode(), round.number),
            *("" if written.left is None else written.left, written.recorded, GROUP, mended),
            *(KEY_LIFE, len(back)),
            *(order.encode() for order in back),
            *(
                word
                for each in ended
                for word in (each.order.id, each.entry, each.stands.value, each.order.encode())
            ),
        ],
    )
    return bool(done)


def told(store: redis.Redis, item: str) -> WitnessedSales:
    """Return the witnessed sales, without dropped ones.

    Unpaid holds are left out, too, if only the store knows how they ended.
    """
    fields: Any = store.hgetall(keys.witnessed(item))
    orders, ended = {}, dict[str, Stands]()
    for field, sale in fields.items():
        try:
            order = Order.decode(sale)
            if word := field.decode().removesuffix(order.id).rstrip():
                stands = Stands(word.upper())
                if ended.get(order.id) is not Stands.PAID:
                    ended[order.id] = stands
        except ValueError:
            continue  # a newer version's: it stays there for that one
        orders[order.id] = order
    for order in list(orders.values()):
        names = Keys(item, order.round)
        replies: Any = store.mget(names.hold(order.id), names.order(order.id))
        hold, sale = replies
        if (hold and order.id not in ended) or _dropped(sale):
            del orders[order.id]
    return WitnessedSales(list(orders.values()), ended)


def _dropped(sale: bytes | None) -> bool:
    try:
        if sale:
            Order.decode(sale)
    except NotBooked:
        return True
    except Unreadable:
        pass
    return False


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
