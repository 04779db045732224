"""Reads before a sale, and records of it, for all modes that sell in the database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Row, insert

from app.domain import Order, Outcome, Round, Sale
from app.store.sql import buyers, stock
from app.store.sql import holds as sql_holds
from app.store.sql.stock import Receipt


class SqlSales:
    def __init__(self, round: Round, now: Callable[[], int]) -> None:
        """`now` returns ms since 1970 by the store's clock."""
        self.round = round
        self.now = now

    def earlier(self, sql: Connection, order: Order) -> Sale | None:
        """Find the sale that the order's key has made before."""
        earlier = stock.bought(sql, order.item, order.key)
        return Sale(Outcome.SOLD, order=earlier) if earlier else None

    def refusal(self, sql: Connection, order: Order, row: Row[Any] | None) -> Sale | None:
        """Return why an order of a new key is not sold now; None: it may continue.

        The round is over, too little is left, or the buyer would have too much.
        """
        if row is None or row.ended:
            return Sale(Outcome.ROUND_OVER)
        if row.units < order.quantity:
            return Sale(Outcome.SOLD_OUT, left=row.units)
        return buyers.refusal(sql, self.round, order, row.units)

    def record(self, sql: Connection, order: Order) -> None:
        """Record the sale: its key's receipt, the order or hold, the buyer's units.

        Raises IntegrityError when the key has bought meanwhile, AboveLimit for the buyer.
        """
        sql.execute(insert(Receipt).values(item=order.item, key=order.key, order=order.id))
        sql.execute(sql_holds.taken(self.round, order, self.now))
        buyers.count(sql, self.round, order)
