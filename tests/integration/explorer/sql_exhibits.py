"""Ways to sell in SQL that are broken on purpose, so that the search has something to find."""

from __future__ import annotations

from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError

from app.domain import Order, Outcome, Sale
from app.modes.sql import Sql
from app.store.sql import orders, stock
from app.store.sql.orders import OrderRow
from app.store.sql.stock import Receipt, StockRow
from app.store.sql.transactions import Contended

WAIT_S = 30


class Exhibit(Sql):
    name = "exhibit"
    exhibit = True


class LostUpdate(Exhibit):
    """SELECT the units, then UPDATE to a computed number: a sale in between is overwritten."""

    def sell(self, order: Order) -> Sale:
        try:
            with self.database.begin(WAIT_S) as sql:
                units = sql.scalar(select(StockRow.units).where(stock.of(self.round))) or 0
                if units < order.quantity:
                    return Sale(Outcome.SOLD_OUT)
                left = units - order.quantity
                sql.execute(update(StockRow).where(stock.of(self.round)).values(units=left))
                sql.execute(insert(OrderRow).values(orders.row(order)))
                return Sale(Outcome.SOLD, left=left, order=order)
        except Contended:
            return Sale(Outcome.BUSY)


class Crossed(Exhibit):
    """Each writes its own key and then the other's: two may wait for each other."""

    def sell(self, order: Order) -> Sale:
        keys = ("left", "right") if order.buyer == "A" else ("right", "left")
        try:
            with self.database.begin(WAIT_S) as sql:
                for key in keys:
                    sql.execute(insert(Receipt).values(item="apple", key=key, order=order.id))
        except (Contended, IntegrityError):
            return Sale(Outcome.BUSY)
        return Sale(Outcome.SOLD_OUT)
