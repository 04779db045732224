"""The books of a round: what store and database say of it, read so that nothing is missed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

import redis
from sqlalchemy.orm import Session, sessionmaker

from app.domain import DatabaseAway, Order, Round, StoreAway, Unreadable
from app.service.catalogue import in_rows
from app.service.rounds import in_database
from app.store import accounts, db, dead_letters, orders, sales, sql_holds, stock, units
from app.store.keys import Keys
from app.store.redis import answering


@dataclass(frozen=True)
class Books:
    """One reading of store and database."""

    left: int
    waiting: list[Order]  # sales in the stream, not yet orders
    recorded: int  # sales ever written to the stream, but for those dropped or put back
    rows: dict[str, tuple[int, str]]  # order id -> quantity, idempotency key
    dead: list[Order] = field(default_factory=list)  # dead letters that can be read
    unreadable: int = 0  # dead letters and holds that cannot
    put_back: int = 0  # dead letters whose units are in stock again: their keys had bought before
    unread: int = 0  # entries of the stream that cannot be read: dead letters to be
    held: list[Order] = field(default_factory=list)  # neither left nor paid for
    astray: int = 0  # units that are rows, and are not whose the orders and holds say


def read(store: redis.Redis, sessions: sessionmaker[Session], round: Round) -> Books:
    """The store in one step, then the database: a sale on its way is seen twice, never missed.

    Raises StoreAway or DatabaseAway, also when the round's stock is lost there.
    """
    if in_database(round.mode):
        return _read_database(sessions, round)
    with answering():
        left, payloads, recorded, taken = accounts.of_round(store, round)
        letters, dropped = dead_letters.of_round(store, round.item, round.number)
    if left is None:
        raise StoreAway("The store has lost this round's stock: was it emptied?")
    with db.answering(), sessions() as session:
        rows = orders.of_round(session, round.item, round.number)
    waiting, held = _readable(round, payloads), _readable(round, taken)
    still_sold = [letter.sale for letter in letters if not letter.put_back]
    dead = _readable(round, still_sold)
    put_back = len(letters) - len(still_sold)
    return Books(
        left,
        waiting,
        recorded - dropped - put_back,
        {id: (quantity, key) for id, quantity, key in rows},
        dead,
        len(still_sold) - len(dead) + len(taken) - len(held),
        put_back,
        len(payloads) - len(waiting),
        held,
    )


def _read_database(sessions: sessionmaker[Session], round: Round) -> Books:
    with db.answering(), db.one_moment(sessions) as session:
        left = stock.left(session, round)
        rows = orders.of_round(session, round.item, round.number)
        held = sql_holds.of_round(session, round.item, round.number) if round.hold else []
        whose = [(id, quantity) for id, quantity, _ in rows]
        whose += [(order.id, order.quantity) for order in held]
        astray = units.astray(session, round, whose) if in_rows(round.mode) else 0
    if left is None:
        raise DatabaseAway("The database has lost this round's stock: was it emptied?")
    sold = {id: (quantity, key) for id, quantity, key in rows}
    return Books(left, [], len(sold), sold, held=held, astray=astray)


def _readable(round: Round, payloads: list[bytes]) -> list[Order]:
    found = []
    for payload in payloads:
        with suppress(Unreadable):
            found.append(sales.read(Keys(round.item, round.number), {b"sale": payload}))
    return found
