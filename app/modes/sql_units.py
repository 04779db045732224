"""sql_units: a row for each unit; lock free rows, and skip rows that another buyer has locked.

How       SELECT … FOR UPDATE SKIP LOCKED → UPDATE → INSERT key, INSERT order → COMMIT
          (if that finds too few, again without SKIP LOCKED: it waits for the locked rows)
Prevents  oversell, an order without its units, units without their order; queues while stock lasts
Breaks    buyers of the last units wait for the buyers that hold them; patience runs out: BUSY
Cost      six statements in one transaction, synced to disk; a row written for each unit
          (nothing in the store; BEGIN, COMMIT and the time-outs come on top; only a count of all
          free rows shows how many units are left, so a sale does not report it)
Sound     while no failover loses a commit: the locks end with their transaction or its dead holder
          (on PostgreSQL only: SQLite has no locks on rows)
Taught    No tutorial sells in SQL. The first one only contrasts a rollback with MULTI, which undoes
          nothing when a command fails while it runs. ‘lastapple transactions’ plays the two next to
          each other.
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError

from app.domain import DatabaseAway, Order, Outcome, Sale
from app.modes.mode import DatabaseMode
from app.store.servers import NO_ROW_LOCKS
from app.store.sql import buyers, stock, units
from app.store.sql.buyers import AboveLimit
from app.store.sql.stock import StockRow
from app.store.sql.transactions import Contended
from app.store.sql.units import UnitRow


class SqlUnits(DatabaseMode):
    name = "sql_units"
    needs = "rows"

    def sell(self, order: Order) -> Sale:
        deadline = self.clock.now() + self.round.wait / 1000
        for attempt in (1, 2):
            try:
                sale = self.attempt(order, deadline, skip_locked=attempt == 1)
            except Contended:
                return Sale(Outcome.BUSY, attempts=attempt)
            if sale.outcome is not Outcome.BUSY:
                break
        return replace(sale, attempts=attempt)

    def attempt(self, order: Order, deadline: float, skip_locked: bool) -> Sale:
        """BUSY: too few rows are unlocked. Only an attempt that waits learns if they are sold."""
        try:
            think = self.round.think / 1000
            with self.database.begin(deadline - self.clock.now(), think) as sql:
                if sql.dialect.name == "sqlite":
                    # SQLAlchemy leaves FOR UPDATE out for SQLite: two would sell the same rows.
                    raise DatabaseAway(NO_ROW_LOCKS)
                free = sql.scalars(
                    select(UnitRow.n)
                    .where(units.of(self.round), UnitRow.order.is_(None))
                    .order_by(UnitRow.n)
                    .limit(order.quantity)
                    .with_for_update(skip_locked=skip_locked)
                ).all()
                if sale := self.sales.earlier(sql, order):
                    return sale
                short = len(free) < order.quantity
                if short and skip_locked:
                    return Sale(Outcome.BUSY)  # unlock all rows: a waiting buyer must hold none
                ended = select(StockRow.ended).where(stock.of(self.round))
                # Sales share this lock. The round's end waits for them, and they wait for it.
                over = sql.scalar(ended if short else ended.with_for_update(read=True))
                if over is None or over:
                    return Sale(Outcome.ROUND_OVER)
                if short:
                    return Sale(Outcome.SOLD_OUT, left=len(free))
                if refusal := buyers.refusal(sql, self.round, order, left=None):
                    return refusal

                self.clock.sleep(self.round.think / 1000)

                # This write checks nothing: only the locks keep other buyers out.
                mine = units.of(self.round), UnitRow.n.in_(free)
                sql.execute(update(UnitRow).where(*mine).values(order=order.id))
                self.sales.record(sql, order)
                return Sale(Outcome.SOLD, order=order)
        except (IntegrityError, AboveLimit):
            # The key or the buyer has bought during the think time. The rollback freed our rows.
            with self.database.begin(self.round.wait / 1000) as sql:
                sale = self.sales.earlier(sql, order)
                refusal = sale or buyers.refusal(sql, self.round, order, left=None)
                return refusal or Sale(Outcome.BUSY)
