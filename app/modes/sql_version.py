"""sql_version: read the stock and its version, then write only if the version is still the same.

How       SELECT -> check -> UPDATE … WHERE version = seen -> INSERT key, INSERT order -> COMMIT
          (again when no row had that version any more)
Prevents  oversell, an order without its units, units without their order
Breaks    attempts or patience run out under contention: BUSY while stock remains
Cost      five statements in two transactions, one of them synced to disk; three for each lost race
          (nothing in the store; BEGIN, COMMIT and, on PostgreSQL, time-outs come on top)
Sound     while no failover loses a commit
Taught    No tutorial sells in SQL. The first one only contrasts a rollback with MULTI, which undoes
          nothing when a command fails while it runs: ‘lastapple transactions’ plays both, side by
          side.
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError

from app.domain import Clock, Order, Outcome, Round, Sale
from app.store import buyers, sql_holds, stock
from app.store.buyers import AboveLimit
from app.store.servers import Servers
from app.store.stock import Receipt, StockRow
from app.store.transactions import Contended

# Full jitter, as in mode watch: the n-th pause is a random share of 2**n ms.
BACKOFF = 0.001
BACKOFF_CAP = 0.256


class SqlVersion:
    name = "sql_version"
    exhibit = False
    needs = "database"
    cost = (0, 0)
    outlived = ""
    no_think = ""
    one_at_a_time = False
    increments = False
    tutorials: tuple[int, ...] = ()

    def __init__(self, servers: Servers, clock: Clock, round: Round) -> None:
        self.servers = servers
        self.database = servers.transactions
        self.clock = clock
        self.round = round

    def sell(self, order: Order) -> Sale:
        deadline = self.clock.now() + self.round.wait / 1000
        for attempt in range(1, self.round.attempts + 1):
            try:
                sale = self.attempt(order, deadline)
            except Contended:
                return Sale(Outcome.BUSY, attempts=attempt, conflicts=attempt - 1)
            if sale.outcome is not Outcome.BUSY:
                return replace(sale, attempts=attempt, conflicts=attempt - 1)
            pause = self.clock.random() * min(BACKOFF_CAP, BACKOFF * 2**attempt)
            if self.clock.now() + pause > deadline:
                break
            self.clock.sleep(pause)
        return replace(sale, attempts=attempt, conflicts=attempt)

    def attempt(self, order: Order, deadline: float) -> Sale:
        """One race. BUSY: somebody else wrote between our read and our UPDATE."""
        with self.database.begin(deadline - self.clock.now()) as sql:
            row = sql.execute(
                select(StockRow.units, StockRow.version, StockRow.ended).where(stock.of(self.round))
            ).first()
            seen = stock.bought(sql, order.item, order.key)
            if seen:
                return Sale(Outcome.SOLD, order=seen)
            if row is None or row.ended:
                return Sale(Outcome.ROUND_OVER)
            left = row.units - order.quantity
            if left < 0:
                return Sale(Outcome.SOLD_OUT, left=row.units)
            if refusal := buyers.refusal(sql, self.round, order, row.units):
                return refusal

        # No transaction is open meanwhile: whoever thinks holds up nobody.
        self.clock.sleep(self.round.think / 1000)
        deadline += self.round.think / 1000  # to think is not to wait

        try:
            with self.database.begin(deadline - self.clock.now()) as sql:
                written = sql.execute(
                    update(StockRow)
                    .where(stock.of(self.round), StockRow.version == row.version)
                    .values(units=left, version=row.version + 1)
                )
                if not written.rowcount:
                    return Sale(Outcome.BUSY, left=row.units)
                sql.execute(insert(Receipt).values(item=order.item, key=order.key, order=order.id))
                sql.execute(sql_holds.taken(self.round, order, self.servers))
                buyers.count(sql, self.round, order)
                return Sale(Outcome.SOLD, left=left, order=order)
        except (IntegrityError, AboveLimit):
            # The key is unique and has bought since we looked, or the buyer has: the next attempt
            # finds out.
            return Sale(Outcome.BUSY, left=row.units)
