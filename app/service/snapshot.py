"""A reading of a round in store and database, for an audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import sub
from typing import NamedTuple

from sqlalchemy.orm import Session

from app.domain import Order, Round
from app.store.sql import orders
from app.store.sql.orders import Booked, OrderLine


@dataclass(frozen=True)
class Snapshot:
    """One reading of store and database: a sale on its way is seen twice, never missed."""

    left: int
    waiting: list[Order]  # sales in the stream, not yet orders
    recorded: int  # sales ever written to the stream, except those dropped or put back
    rows: dict[str, OrderLine]  # by id: orders that share an id or key with a sale or hold
    dead: list[Order] = field(default_factory=list)  # dead letters that can be read
    unreadable: int = 0  # dead letters and holds that cannot
    put_back: int = 0  # dead letters whose units are in stock again: their keys had bought before
    unread: int = 0  # entries of the stream that cannot be read: dead letters to be
    held: list[Order] = field(default_factory=list)  # not in stock, and not paid for
    astray: int = 0  # units (rows) whose owner is not the one in orders and holds
    others: Booked = field(default_factory=Booked)  # the sum of all other orders
    in_doubt: int = 0  # sales and holds in the store that no replica confirms
    confirmed: int = 0  # orders that the database has had, as far as the store knows


class RoundOrders(NamedTuple):
    """A round's orders: `rows` share an id or key with other sales; `others` counts the rest."""

    rows: dict[str, OrderLine]
    others: Booked


def round_orders(session: Session, round: Round, sales: Sequence[Order]) -> RoundOrders:
    """Read the round's orders next to its other `sales`; no key is in both parts."""
    look = partial(orders.sharing, session, round.item, round.number)
    fitting = [order for order in sales if not orders.misfit(order)]  # no database has the others
    keys = {order.key for order in fitting}
    rows = look({order.id for order in fitting}, keys)
    rows |= look((), {row.key for row in rows.values()} - keys)
    every = orders.count(session, round.item, round.number)
    units = sum(row.quantity for row in rows.values())
    counted = Booked(len(rows), units, len({row.key for row in rows.values()}))
    return RoundOrders(rows, Booked(*map(sub, every, counted)))
