"""The ledger of rounds that sell in the database."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from sqlalchemy.orm import Session

from app.domain import DatabaseAway, Due, Hold, Order, Round, Stands, StockHeld
from app.locks.handle import Handle
from app.service.snapshot import Snapshot, round_orders
from app.store import loss_marks, rounds, sales
from app.store.clients.redis import answering
from app.store.keys import Keys
from app.store.sales import KEY_LIFE
from app.store.servers import Servers
from app.store.sql import db, orders, units
from app.store.sql import holds as sql_holds
from app.store.sql import stock as table
from app.store.sql.transactions import IDLE_S, Contended, lock_file

# For a batch of holds, however impatient a round's buyers are: a statement for 2,500 rows takes
# 0.2 s, and one that always times out would never return its holds.
SHORTEST_WAIT_S = 3.0
# Holds that a sweep returns in one transaction. On SQLite it locks the file from begin to end. On
# PostgreSQL it locks the stock's row last, after a wait for all buyers in line. So fewer and larger
# transactions return all holds sooner, and delay buyers no longer.
BATCH, BATCH_ON_POSTGRESQL = 500, 2_500
# To wait for sellers that hold the row of a round that has ended; one that is frozen loses it.
LAST_SALE_S = IDLE_S + 1
STEP_S = 0.2  # of LAST_SALE_S, for each try


class DatabaseLedger:
    """Ledger in the database: stock, orders and holds are rows.

    The store knows the round, and the keys that bought in it once it is over.
    """

    # A purchase asks the store for its key first: the database does not have what fulfil has not
    # moved yet. Only fulfil expires holds.
    in_store = False

    def __init__(self, servers: Servers, in_rows: bool) -> None:
        """`in_rows`: each unit of the stock is a row."""
        self.servers = servers
        self.in_rows = in_rows
        self.batch = BATCH if servers.in_sqlite else BATCH_ON_POSTGRESQL

    def stock(self, round: Round) -> bool:
        with db.answering(), self.servers.sessions.begin() as session:
            return table.put(session, round, self.in_rows)

    def close(self, ended: Round) -> bool:
        """Mark the stock's row as ended; False when a seller holds the row for too long.

        The round's record says by then that it has ended, and workers leave it within a second. A
        buyer in mid-sale, and those in line behind it, sell as if they had come before the end.
        That mixes no audits: an order and its stock name their round.
        """
        try:
            with self.servers.transactions.begin(STEP_S) as sql:
                table.end(sql, ended)
        except DatabaseAway:
            return False
        return True

    def handed_over(self, before: Round) -> bool:
        """Copy the round's keys into the store, so that no purchase asks the database for its key.

        Raises StockHeld, redis.RedisError; DatabaseAway (then the round may have ended, and the
        next start completes the hand-over).
        """
        done = Keys(before.item, before.number).handed_over
        if self.servers.store.exists(done):
            return True
        self._hand_over(before)
        self.servers.store.set(done, 1, ex=KEY_LIFE)  # as long as the keys' receipts
        return False

    def _hand_over(self, before: Round) -> None:
        """End the round and hand its keys over.

        Meanwhile the item is not on sale: for a moment, or for some seconds after a hundred
        thousand purchases.
        """
        self.left(before)  # while the database is away, nothing is ended
        rounds.end(self.servers.store, before.item, before.number)
        # Workers leave the round within a beat and wake buyers that think or wait in it: the row is
        # free soon. Tried in short steps, as SQLite waits without letting the lab do anything else.
        deadline = time.monotonic() + LAST_SALE_S
        while not self.close(before):
            if time.monotonic() > deadline:
                raise StockHeld
            time.sleep(STEP_S)
        since = self.servers.clock.now() - KEY_LIFE * 1000
        with db.answering(), self.servers.sessions() as session:
            for sold in orders.since(session, before.item, since, before.number):
                sales.remember(self.servers.store, sold)
            for held in sql_holds.since(session, before.item, since, before.number):
                sales.remember(self.servers.store, held)

    def left(self, round: Round) -> int | None:
        return self.left_of([round])[round.item]

    def left_of(self, rounds: Iterable[Round]) -> dict[str, int | None]:
        """Return the units left in rounds of several items, by item, in one session."""
        with db.answering(), self.servers.sessions() as session:
            return {round.item: table.left(session, round) for round in rounds}

    def sold(self, round: Round) -> int:
        with db.answering(), self.servers.sessions() as session:
            return orders.units_of_round(session, round.item, round.number)

    def unbooked(self, round: Round) -> list[bytes]:
        return []

    def snapshot(self, round: Round) -> Snapshot:
        with answering():
            confirmed = loss_marks.booked(self.servers.store, round.item).get(round.number, 0)
        with db.answering(), db.one_moment(self.servers.sessions) as session:
            left = table.left(session, round)
            held = sql_holds.of_round(session, round.item, round.number) if round.hold else []
            rows, others = round_orders(session, round, held)
            astray = units.astray(session, round) if self.in_rows else 0
        if left is None:
            raise DatabaseAway("The database has lost this round's stock: was it emptied?")
        recorded = len(rows) + others.orders
        return Snapshot(
            left=left,
            waiting=[],
            recorded=recorded,
            rows=rows,
            held=held,
            astray=astray,
            others=others,
            confirmed=confirmed,
        )

    def confirm(self, round: Round, orders: int) -> bool:
        if self.left(round) is None:
            return False
        with answering():
            loss_marks.confirm(self.servers.store, round.item, round.number, orders)
        return True

    def restock(self, session: Session, round: Round, sold_more: bool) -> None:
        if self.in_rows or not (sold_more or table.left(session, round) is None):
            return
        taken = orders.units_of_round(session, round.item, round.number)
        held = sql_holds.of_round(session, round.item, round.number)
        taken += sum(order.quantity for order in held)
        table.mend(session, round, max(0, round.stock - taken))

    def bought(self, item: str, key: str) -> Order | None:
        with db.answering(), self.servers.sessions() as session:
            return table.bought(session, item, key)

    def copied(self, order: Order) -> None:
        """Do nothing: the database answers once it has a sale for good."""

    def settle(self, round: Round, order: Order, stands: Stands) -> Hold:
        now = self.servers.clock.now()
        with db.answering(), self.servers.sessions.begin() as sql:
            hold = sql_holds.settle(sql, order, stands, now)
        if hold is None:
            raise DatabaseAway("The database has lost this hold: was it emptied?")
        return hold

    def next_due(self, round: Round, most: int) -> list[Due]:
        now = self.servers.clock.now()
        with db.answering(), self.servers.sessions() as sql:
            return sql_holds.next_due(sql, round, now, most)

    def rounds_with_holds(self, item: str) -> list[int]:
        now = self.servers.clock.now()
        with db.answering(), self.servers.sessions() as sql:
            return sql_holds.rounds_due(sql, item, now)

    def expire(self, round: Round, most: int) -> list[Order]:
        now = self.servers.clock.now()
        with db.answering(), self.servers.sessions.begin() as sql:
            lock_file(sql.connection(), _wait_s(round))
            return sql_holds.expire(sql, round, now, most)

    def put_back(
        self, round: Round, over: Sequence[Order], lock: Handle | None = None, running: bool = True
    ) -> bool:
        wait = _wait_s(round)
        try:
            with self.servers.transactions.begin(wait) as sql:
                lock_file(sql, wait)
                table.put_back(sql, round, over, self.in_rows)
        except Contended:
            return False
        return True


def _wait_s(round: Round) -> float:
    return max(SHORTEST_WAIT_S, round.wait / 1000)
