"""Marks of losses: an item with a mark is not sold until a person accepts or repairs it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import redis

from app.domain import Lack, Mended, Order, Unreadable
from app.store import keys, lua, rounds
from app.store.keys import Keys
from app.text import Text, together


@dataclass(frozen=True, slots=True)
class There:
    """How far the store has come with an item, by what it knows itself."""

    newest: int  # number of its newest round; 0: none
    accepted: int  # number of the round up to which losses are accepted
    store: str  # which store it is; "" when it never began a round in our time
    lack: Lack | None  # what it was found to have lost, if that is not accepted


def look(store: redis.Redis, item: str) -> There:
    """Read the marks in one round trip. Raises Unreadable."""
    names = [keys.newest, keys.accepted, keys.identity, keys.lacks]
    replies: list[Any] = store.mget([name(item) for name in names])
    newest, accepted, identity, lack = replies
    return There(
        int(newest or 0),
        int(accepted or 0),
        (identity or b"").decode(),
        Lack.decode(lack) if lack else None,
    )


def every(store: redis.Redis, items: Iterable[str]) -> list[Lack]:
    """Return all losses that are not accepted, except of items whose node is away."""
    pipe = store.pipeline(transaction=False)
    for item in items:
        pipe.get(keys.lacks(item))
    answers = pipe.execute(raise_on_error=False)
    return [Lack.decode(answer) for answer in answers if isinstance(answer, bytes)]


def standing(store: redis.Redis, item: str) -> bytes | None:
    """Return the mark that is not accepted, as it is stored."""
    record: Any = store.get(keys.lacks(item))
    return record if isinstance(record, bytes) else None


def of_round(store: redis.Redis, item: str, number: int) -> Text | None:
    """Return a sentence about what a round has lost, or may have, and what to do about it.

    After a repair it says what was repaired (see Mended).
    """
    names = Keys(item, number)
    own, item_mark, mended = store.mget(names.lacks, keys.lacks(item), names.mended)
    if item_mark and number >= (lack := Lack.decode(item_mark)).since:
        return lack.sentence
    if not own:
        return None
    what = Lack.decode(own).what
    return together(what, Mended.decode(mended).what) if mended else what


def mark(store: redis.Redis, lack: Lack, witnessed: Mapping[str, Order] | None = None) -> bool:
    """Stop all sales of the item: end its running round, and let none begin.

    False: the loss is accepted already. The first mark stays, whatever is found later. Keeps the
    `witnessed` sales that workers still know, by field (see keys.witnessed).
    """
    with store.pipeline() as pipe:
        # In one step with the read: a caller that read before the loss was accepted or repaired
        # would mark it again, and stop the item's sales once more.
        pipe.watch(keys.accepted(lack.item))
        accepted = int(pipe.get(keys.accepted(lack.item)) or 0)
        if lack.round <= accepted:
            return False
        pipe.multi()
        pipe.set(keys.lacks(lack.item), lack.encode(), nx=True)
        if lack.since:
            pipe.set(Keys(lack.item, lack.since).lacks, lack.encode(), nx=True)
        for field, order in (witnessed or {}).items():
            pipe.hset(keys.witnessed(lack.item), field, order.encode())
        try:
            pipe.execute()
        except redis.WatchError:
            return mark(store, lack, witnessed)  # repeated once per acceptance
    with suppress(Unreadable):  # a newer version's round is not ours to end; it reads the mark, too
        rounds.end(store, lack.item)
    return True


def accept(store: redis.Redis, item: str, up_to: int, found: bytes | None) -> bool:
    """Sell again, in rounds after number `up_to`; losses of earlier rounds are not found again.

    False: the item's mark is not `found` any more (None: no mark).
    """
    with store.pipeline() as pipe:
        pipe.watch(keys.lacks(item))
        if pipe.get(keys.lacks(item)) != found:
            return False
        pipe.multi()
        pipe.set(keys.accepted(item), up_to)
        pipe.delete(keys.lacks(item), keys.witnessed(item))
        try:
            pipe.execute()
        except redis.WatchError:
            return False
    return True


def booked(store: redis.Redis, item: str) -> dict[int, int]:
    """Return how many orders of each round the database has confirmed, as far as it was counted."""
    counts: Any = store.hgetall(keys.booked(item))
    return {int(number): int(count) for number, count in counts.items()}


def confirm(store: redis.Redis, item: str, number: int, orders: int) -> None:
    """Note that the database has so many orders of a round that sells there."""
    store.register_script(lua.source("confirm"))(keys=[keys.booked(item)], args=[number, orders])


def recorded(store: redis.Redis, item: str, number: int) -> int | None:
    """Return the sales ever written to a round's stream, except dropped ones, as the audit counts.

    None without a stream.
    """
    names = Keys(item, number)
    if not store.exists(names.sales):
        return None
    written = int(store.xinfo_stream(names.sales)["entries-added"])
    return written - int(store.hget(keys.dropped(item), str(number)) or 0)
