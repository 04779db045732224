"""A round in the store at one moment: its stock, its sales, and its holds."""

from __future__ import annotations

from typing import Any, NamedTuple

import redis

from app.domain import Round
from app.store import keys
from app.store.keys import Keys


class Account(NamedTuple):
    """`left` is None when the stock is lost; the others are as modes wrote them."""

    left: int | None
    sales: list[
        bytes
    ]  # not yet in the database; b"": an entry without one, which waits all the same
    recorded: int  # sales ever written (the server's count)
    held: list[bytes]  # neither left nor paid for
    confirmed: int  # orders that the database has confirmed


def of_round(store: redis.Redis, round: Round) -> Account:
    """In one step: what moves meanwhile from one to the other is seen once, in either of them."""
    names = Keys(round.item, round.number)
    pipe = store.pipeline(transaction=True)
    pipe.mget(names.stock, names.ended)
    pipe.xrange(names.sales)
    pipe.xinfo_stream(names.sales)
    pipe.xrange(names.holds)
    pipe.hvals(names.held)
    pipe.hget(keys.booked(round.item), str(round.number))
    (stock, ended), sales, stream, taken, held, confirmed = pipe.execute()
    units = stock if ended is None else ended
    return Account(
        None if units is None else int(units),
        _sales(sales),
        stream["entries-added"],
        [*_sales(taken), *held],
        int(confirmed or 0),
    )


def _sales(entries: list[Any]) -> list[bytes]:
    return [fields.get(b"sale", b"") for _, fields in entries]
