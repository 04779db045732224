"""sql_lock: lock the row of the stock, then sell as if alone.

How       SELECT … FOR UPDATE → check → UPDATE → INSERT key, INSERT order → COMMIT
          (SQLite has no row locks: there BEGIN IMMEDIATE locks the whole file)
Prevents  oversell, an order without its units, units without their order
Breaks    all buyers wait while one thinks (on SQLite every writer waits: the file is locked)
Cost      five statements in one transaction, synced to disk; nothing in the store
          (BEGIN, COMMIT and, on PostgreSQL, setting the time-outs come on top)
Sound     while no failover loses a commit: the lock ends with its transaction or its dead holder
Taught    No tutorial sells in SQL. The first one only contrasts a rollback with MULTI, which undoes
          nothing when a command fails while it runs. ‘lastapple transactions’ plays the two next to
          each other.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import select, text, update
from sqlalchemy.exc import IntegrityError

from app.domain import Order, Outcome, Sale
from app.modes.mode import DatabaseMode
from app.store.sql import stock
from app.store.sql.stock import StockRow
from app.store.sql.transactions import Contended


class SqlLock(DatabaseMode):
    name = "sql_lock"
    one_at_a_time = True

    def sell(self, order: Order) -> Sale:
        try:
            return self.transaction(order)
        except Contended:
            return Sale(Outcome.BUSY)

    def transaction(self, order: Order) -> Sale:
        try:
            with self.database.begin(self.round.wait / 1000, self.round.think / 1000) as sql:
                if sql.dialect.name == "sqlite":
                    # SQLAlchemy leaves FOR UPDATE out for SQLite: two readers would both write.
                    # SQLite's only lock is on the file, and a plain BEGIN takes it too late.
                    sql.execute(text("BEGIN IMMEDIATE"))
                row: Any = sql.execute(
                    select(StockRow.units, StockRow.ended)
                    .where(stock.of(self.round))
                    .with_for_update()
                ).first()
                sale = self.sales.earlier(sql, order)
                if refusal := sale or self.sales.refusal(sql, order, row):
                    return refusal

                self.clock.sleep(self.round.think / 1000)

                # This write checks nothing: only the lock keeps other buyers out.
                left = row.units - order.quantity
                sql.execute(update(StockRow).where(stock.of(self.round)).values(units=left))
                self.sales.record(sql, order)
                return Sale(Outcome.SOLD, left=left, order=order)
        except IntegrityError:
            # The key has bought meanwhile in another round: we have not locked that round's row.
            with self.database.begin(self.round.wait / 1000) as sql:
                return self.sales.earlier(sql, order) or Sale(Outcome.BUSY)
