"""The books of a round: what store and database say of it, read so that nothing is missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import sub

import redis
from sqlalchemy.orm import Session, sessionmaker

from app.domain import DatabaseAway, Order, Round, StoreAway
from app.service.catalogue import in_rows
from app.service.rounds import in_database
from app.store import accounts, db, dead_letters, lacks, orders, sales, sql_holds, stock, units
from app.store.orders import Booked
from app.store.redis import answering


@dataclass(frozen=True)
class Books:
    """One reading of store and database."""

    left: int
    waiting: list[Order]  # sales in the stream, not yet orders
    recorded: int  # sales ever written to the stream, but for those dropped or put back
    # order id -> quantity, idempotency key; with an id or key of what is in the store, or held
    rows: dict[str, tuple[int, str]]
    dead: list[Order] = field(default_factory=list)  # dead letters that can be read
    unreadable: int = 0  # dead letters and holds that cannot
    put_back: int = 0  # dead letters whose units are in stock again: their keys had bought before
    unread: int = 0  # entries of the stream that cannot be read: dead letters to be
    held: list[Order] = field(default_factory=list)  # neither left nor paid for
    astray: int = 0  # units that are rows, and are not whose the orders and holds say
    others: Booked = field(default_factory=Booked)  # the sum of all other orders
    in_doubt: int = 0  # sales and holds in the store that no replica confirms
    confirmed: int = 0  # orders that the database has had, as far as the store knows


def read(store: redis.Redis, sessions: sessionmaker[Session], round: Round) -> Books:
    """The store in one step, then the database: a sale on its way is seen twice, never missed.

    Raises StoreAway or DatabaseAway, also when the round's stock is lost there.
    """
    if in_database(round.mode):
        return _read_database(store, sessions, round)
    with answering():
        left, payloads, recorded, taken, confirmed = accounts.of_round(store, round)
        letters, dropped = dead_letters.of_round(store, round.item, round.number)
    if left is None:
        raise StoreAway("The store has lost this round's stock: was it emptied?")
    waiting, held = sales.readable(round, payloads), sales.readable(round, taken)
    still_sold = [letter.sale for letter in letters if not letter.put_back]
    dead = sales.readable(round, still_sold)
    with db.answering(), db.one_moment(sessions) as session:
        rows, others = _booked(session, round, [*waiting, *dead, *held])
    put_back = len(letters) - len(still_sold)
    return Books(
        left,
        waiting,
        recorded - dropped - put_back,
        rows,
        dead,
        len(still_sold) - len(dead) + len(taken) - len(held),
        put_back,
        len(payloads) - len(waiting),
        held,
        others=others,
        confirmed=confirmed,
    )


def _booked(
    session: Session, round: Round, beside: Sequence[Order]
) -> tuple[dict[str, tuple[int, str]], Booked]:
    """The orders that may be, or contradict, one of those `beside`; and the sum of all others.

    They are all that have a key of those, so that no key is counted in both.
    """
    look = partial(orders.sharing, session, round.item, round.number)
    fitting = [order for order in beside if not orders.misfit(order)]  # others no database has
    keys = {order.key for order in fitting}
    rows = look({order.id for order in fitting}, keys)
    rows |= look((), {key for _, key in rows.values()} - keys)
    every = orders.count(session, round.item, round.number)
    units = sum(quantity for quantity, _ in rows.values())
    found = Booked(len(rows), units, len({key for _, key in rows.values()}))
    return rows, Booked(*map(sub, every, found))


def _read_database(store: redis.Redis, sessions: sessionmaker[Session], round: Round) -> Books:
    with answering():
        confirmed = lacks.booked(store, round.item).get(round.number, 0)
    with db.answering(), db.one_moment(sessions) as session:
        left = stock.left(session, round)
        held = sql_holds.of_round(session, round.item, round.number) if round.hold else []
        rows, others = _booked(session, round, held)
        astray = units.astray(session, round) if in_rows(round.mode) else 0
    if left is None:
        raise DatabaseAway("The database has lost this round's stock: was it emptied?")
    recorded = len(rows) + others.orders
    return Books(
        left, [], recorded, rows, held=held, astray=astray, others=others, confirmed=confirmed
    )
