"""sql: one UPDATE checks the stock and takes it, in the database.

How       UPDATE … SET units = units - q WHERE units >= q → INSERT key, INSERT order → COMMIT
Prevents  oversell, an order without its units, units without their order
Breaks    all wait in line for one row (SQLite: one file); patience runs out: BUSY, stock remains
          (and think time is impossible: there is no gap between the check and the write)
Cost      three statements in one transaction, synced to disk; nothing in the store
          (BEGIN, COMMIT and, on PostgreSQL, setting the time-outs come on top)
Sound     while no failover loses a commit
Taught    No tutorial sells in SQL. The first one only contrasts a rollback with MULTI, which undoes
          nothing when a command fails while it runs. ‘lastapple transactions’ plays the two next to
          each other.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError

from app.domain import Order, Outcome, Sale
from app.modes.mode import DatabaseMode
from app.store.sql import stock
from app.store.sql.buyers import AboveLimit
from app.store.sql.stock import StockRow
from app.store.sql.transactions import Contended
from app.text import Text


class Sql(DatabaseMode):
    name = "sql"
    no_think = Text("Think time does nothing here: one UPDATE has no gap to think in.")

    def sell(self, order: Order) -> Sale:
        try:
            return self.take(order) or self.refuse(order)
        except Contended:
            return Sale(Outcome.BUSY)

    def take(self, order: Order) -> Sale | None:
        """Return None, with nothing written, if the stock is short, the round over, the key used,
        or the buyer's limit reached."""
        try:
            with self.database.begin(self.round.wait / 1000) as sql:
                # A second buyer waits here until the first has committed. Then the database checks
                # the WHERE again, with the new number of units.
                left = sql.scalar(
                    update(StockRow)
                    .where(stock.of(self.round), StockRow.units >= order.quantity, ~StockRow.ended)
                    .values(units=StockRow.units - order.quantity)
                    .returning(StockRow.units)
                )
                if left is None:
                    return None
                self.sales.record(sql, order)
                return Sale(Outcome.SOLD, left=left, order=order)
        except (IntegrityError, AboveLimit):
            # The key has bought before, or the limit is reached. The rollback returned the units.
            return None

    def refuse(self, order: Order) -> Sale:
        """Return why nothing was taken. BUSY: the reason is gone by now."""
        with self.database.begin(self.round.wait / 1000) as sql:
            sale = self.sales.earlier(sql, order)
            row: Any = sql.execute(
                select(StockRow.units, StockRow.ended).where(stock.of(self.round))
            ).first()
            refusal = sale or self.sales.refusal(sql, order, row)
            return refusal or Sale(Outcome.BUSY, left=row.units)
