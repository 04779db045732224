"""Dead letters: sales that cannot be booked, each moved out of its round's stream.

They are kept with the reason, in one stream per item. So they hold up no other sale, and nothing is
lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson
import redis

from app.domain import NotBooked, Order, Unreadable
from app.store import keys, lua, sales
from app.store.keys import Keys
from app.store.rounds import GROUP

LONGEST = 300  # characters of a reason: databases quote the whole row
NO_ENTRY = b"0-0"  # a stream's id that no entry has
ID = re.compile(r"\d{1,19}-\d{1,19}")


@dataclass(frozen=True)
class DeadLetter:
    """A sale that cannot be booked, with the reason.

    `entry` is its id in the round's stream, `added` when it was put here (ms since 1970, by the
    store's clock). `sale` are its bytes; of an entry without a sale, all its fields as JSON.
    `put_back` is how many of its units are in stock again.
    """

    item: str
    round: int
    id: str
    entry: str
    added: int
    reason: str
    sale: bytes
    put_back: int = 0

    def read(self) -> Order:
        """Return the sale. Raises Unreadable."""
        return sales.read(Keys(self.item, self.round), {b"sale": self.sale})


def add(
    store: redis.Redis,
    names: Keys,
    id: bytes,
    fields: Mapping[bytes, bytes],
    reason: str,
    put_back: int,
    buyer: str,
) -> None:
    """Move an entry of the round's stream to the dead letters, and `put_back` units into its stock.

    These units no longer count for the `buyer`'s limit. All in one step; an entry that another
    process has moved meanwhile is left alone.
    """
    sale = fields.get(b"sale")
    words: list[str | bytes | int] = ["round", names.number, "entry", id, "put_back", put_back]
    words += ["reason", reason[:LONGEST], "sale", _all(fields) if sale is None else sale]
    store.register_script(lua.source("bury"))(
        keys=[
            *(names.sales, keys.dead_letters(names.item), names.stock, names.ended),
            names.bought(buyer),
        ],
        args=[id, GROUP, put_back, *words],
    )


def _all(fields: Mapping[bytes, bytes]) -> bytes:
    text = {
        name.decode(errors="backslashreplace"): value.decode(errors="backslashreplace")
        for name, value in fields.items()
    }
    return orjson.dumps(text)


def every(store: redis.Redis, item: str) -> list[DeadLetter]:
    """Return the item's dead letters, oldest first."""
    entries: Any = store.xrange(keys.dead_letters(item))
    return [_letter(item, *entry) for entry in entries]


def find(store: redis.Redis, item: str, id: str) -> DeadLetter | None:
    if not ID.fullmatch(id):
        return None
    entries: Any = store.xrange(keys.dead_letters(item), id, id)
    return _letter(item, *entries[0]) if entries else None


@dataclass(frozen=True)
class Letters:
    """A round's dead letters, and how many more of it were dropped for good."""

    remaining: list[DeadLetter]
    dropped: int

    @property
    def still_sold(self) -> list[bytes]:
        """The sales whose units are not back in stock."""
        return [letter.sale for letter in self.remaining if not letter.put_back]


def of_round(store: redis.Redis, item: str, number: int) -> Letters:
    pipe = store.pipeline()
    pipe.xrange(keys.dead_letters(item))
    pipe.hget(keys.dropped(item), str(number))
    entries, dropped = pipe.execute()
    letters = [_letter(item, *entry) for entry in entries]
    return Letters([letter for letter in letters if letter.round == number], int(dropped or 0))


def booked(store: redis.Redis, letter: DeadLetter, order: Order) -> None:
    """Remove a dead letter that is in the database now; its key leads to its order for a day."""
    names = Keys(letter.item, letter.round)
    sales.let_go(store, names, {NO_ENTRY: order})
    pipe = store.pipeline()
    pipe.xdel(keys.dead_letters(letter.item), letter.id)
    # Another process may have dropped it after its order was committed.
    pipe.set(names.key(order.key), order.encode(), ex=sales.KEY_LIFE)
    pipe.execute()


def drop(store: redis.Redis, letter: DeadLetter) -> bool:
    """Delete a dead letter for good; its order's id and key say so for a day.

    False: it was gone.
    """
    names = [keys.dead_letters(letter.item), keys.dropped(letter.item)]
    args: list[str | bytes | int] = [letter.id, letter.round]
    with suppress(Unreadable):  # else its order and its key are unknown
        order = letter.read()
        names += Keys(letter.item, letter.round).copies(order)
        args += [letter.sale, NotBooked(order).encode(), sales.KEY_LIFE]
    return bool(store.register_script(lua.source("drop"))(keys=names, args=args))


def count(store: redis.Redis, items: Iterable[str]) -> dict[str, int]:
    """Return how many dead letters each item has; an item whose node is away is left out."""
    pipe = store.pipeline(transaction=False)
    for item in (named := list(items)):
        pipe.xlen(keys.dead_letters(item))
    answers = zip(named, pipe.execute(raise_on_error=False), strict=True)
    return {item: answer for item, answer in answers if isinstance(answer, int)}


def _letter(item: str, id: bytes, fields: Mapping[bytes, Any]) -> DeadLetter:
    number, units = fields.get(b"round", b""), fields.get(b"put_back", b"")
    return DeadLetter(
        item,
        int(number) if number.isdigit() else 0,
        id.decode(),
        fields.get(b"entry", b"").decode(errors="replace"),
        int(id.partition(b"-")[0]),
        fields.get(b"reason", b"").decode(errors="replace"),
        fields.get(b"sale", b""),
        int(units) if units.isdigit() else 0,
    )
