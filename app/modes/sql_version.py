"""sql_version: read the stock and its version, then write only if the version is still the same.

How       SELECT → check → UPDATE … WHERE version = seen → INSERT key, INSERT order → COMMIT
          (again when the row has another version by then)
Prevents  oversell, an order without its units, units without their order
Breaks    attempts or patience run out under contention: BUSY while stock remains
Cost      five statements in two transactions, one of them synced to disk; three for each lost race
          (nothing in the store; BEGIN, COMMIT and, on PostgreSQL, time-outs come on top)
Sound     while no failover loses a commit
Taught    No tutorial sells in SQL. The first one only contrasts a rollback with MULTI, which undoes
          nothing when a command fails while it runs. ‘lastapple transactions’ plays the two next to
          each other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError

from app.domain import Order, Outcome, Sale
from app.modes.mode import DatabaseMode, pause
from app.store.sql import stock
from app.store.sql.buyers import AboveLimit
from app.store.sql.stock import StockRow
from app.store.sql.transactions import Contended


class SqlVersion(DatabaseMode):
    name = "sql_version"

    def sell(self, order: Order) -> Sale:
        deadline = self.clock.now() + self.round.wait / 1000
        for attempt in range(1, self.round.attempts + 1):
            try:
                sale = self.attempt(order, deadline)
            except Contended:
                return Sale(Outcome.BUSY, attempts=attempt, conflicts=attempt - 1)
            if sale.outcome is not Outcome.BUSY:
                return replace(sale, attempts=attempt, conflicts=attempt - 1)
            if not pause(self.clock, attempt, deadline):
                break
        return replace(sale, attempts=attempt, conflicts=attempt)

    def attempt(self, order: Order, deadline: float) -> Sale:
        """Try once. BUSY: another client wrote between our read and our UPDATE."""
        with self.database.begin(deadline - self.clock.now()) as sql:
            row: Any = sql.execute(
                select(StockRow.units, StockRow.version, StockRow.ended).where(stock.of(self.round))
            ).first()
            sale = self.sales.earlier(sql, order)
            if refusal := sale or self.sales.refusal(sql, order, row):
                return refusal

        # No transaction is open meanwhile: a thinking buyer makes no other buyer wait.
        self.clock.sleep(self.round.think / 1000)
        deadline += self.round.think / 1000  # think time is no waiting time

        left = row.units - order.quantity
        try:
            with self.database.begin(deadline - self.clock.now()) as sql:
                written = sql.execute(
                    update(StockRow)
                    .where(stock.of(self.round), StockRow.version == row.version)
                    .values(units=left, version=row.version + 1)
                )
                if not written.rowcount:
                    return Sale(Outcome.BUSY, left=row.units)
                self.sales.record(sql, order)
                return Sale(Outcome.SOLD, left=left, order=order)
        except (IntegrityError, AboveLimit):
            # Since our read the key has bought, or the buyer has reached the limit: the next
            # attempt finds out.
            return Sale(Outcome.BUSY, left=row.units)
