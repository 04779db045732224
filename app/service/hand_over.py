"""From a round that sold in the database to the next: what the store has to learn in between."""

from __future__ import annotations

import time

from app.domain import DatabaseAway, Round, StockHeld
from app.store import db, orders, sales, sql_holds
from app.store import rounds as records
from app.store import stock as table
from app.store.keys import Keys
from app.store.sales import KEY_LIFE
from app.store.servers import Servers
from app.store.transactions import IDLE_S

# To wait for sellers that hold the row of a round that has ended; one that is frozen loses it.
LAST_SALE_S = IDLE_S + 1
STEP_S = 0.2  # of it, for each try


class HandOver:
    """Ends rounds that sell in the database, and tells the store which keys have bought there.

    So no purchase has to ask the database for them.
    """

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.store = servers.store

    def done(self, before: Round) -> bool:
        """Has the store learned of this round? Raises redis.RedisError."""
        return bool(self.store.exists(_mark(before)))

    def make(self, before: Round) -> None:
        """End the round and hand its keys over.

        Meanwhile the item is not on sale: for a moment, or some seconds where a hundred thousand
        have bought. Raises StockHeld, DatabaseAway (then the round may have ended, and the next
        start goes on with it) and redis.RedisError.
        """
        with db.answering(), self.servers.sessions() as session:
            table.left(session, before)  # while the database is away, nothing is ended
        records.end(self.store, before.item, before.number)
        # Workers leave the round within a beat, and wake up who thinks or waits in it: the row is
        # free soon. Tried in short steps, as SQLite waits without letting the lab do anything else.
        deadline = time.monotonic() + LAST_SALE_S
        while not self.close(before):
            if time.monotonic() > deadline:
                raise StockHeld
            time.sleep(STEP_S)
        since = self.servers.clock.now() - KEY_LIFE * 1000
        with db.answering(), self.servers.sessions() as session:
            for sold in orders.since(session, before.item, since, before.number):
                sales.remember(self.store, sold)
            for held in sql_holds.since(session, before.item, since, before.number):
                sales.remember(self.store, held)
        self.store.set(_mark(before), 1, ex=KEY_LIFE)  # like the keys that it tells of

    def close(self, ended: Round) -> bool:
        """Mark the stock of an ended round as ended in the database. False: somebody holds its row.

        Its record says so already, and workers leave it within a second. A buyer in mid-sale
        then, and those in line behind it, sell as if they had come before the end. No audit is
        mixed by that: order and stock name their round.
        """
        try:
            with self.servers.transactions.begin(STEP_S) as sql:
                table.end(sql, ended)
        except DatabaseAway:
            return False
        return True


def _mark(round: Round) -> str:
    return Keys(round.item, round.number).handed_over
