"""The ledger of rounds that sell in the store."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import redis
from sqlalchemy.orm import Session

from app.domain import Due, Hold, Order, Round, Stands, StoreAway, Unreadable
from app.locks.handle import Handle
from app.service.snapshot import Snapshot, round_orders
from app.store import dead_letters, holds, rounds, sales
from app.store.clients.redis import answering
from app.store.keys import Keys
from app.store.servers import Servers
from app.store.sql import db

log = logging.getLogger(__name__)


class StoreLedger:
    """Ledger in the store: stock is a key, sales and holds are streams.

    fulfil makes orders of the sales. It has the same methods as DatabaseLedger; all raise
    StoreAway, DatabaseAway.
    """

    # Modes see what a key has bought, and buyers that find no stock expire holds.
    in_store = True
    batch = 500  # holds that a sweep returns in one step: it delays buyers by a few ms

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.unreadable: set[bytes] = set()  # sales of holds that were logged as such

    def stock(self, round: Round) -> bool:
        """Stock a new round. False: another process is starting that very round."""
        return True  # done in the step that begins the round

    def close(self, ended: Round) -> bool:
        """Stop all sales from an ended round's stock. False: a purchase still runs on it."""
        return True  # done in the step that has ended it

    def handed_over(self, before: Round) -> bool:
        """Copy the keys that have bought in a round into the store, before the next round begins.

        False: they were not there yet, and another process may have begun the next round meanwhile.
        """
        return True

    def left(self, round: Round) -> int | None:
        """Return the units left in stock; None when they are lost."""
        with answering():
            return rounds.left(self.servers.store, round)

    def sold(self, round: Round) -> int:
        """Count the units sold so far, cheaply: sales here, units in the database."""
        with answering():
            return rounds.recorded(self.servers.store, round)

    def unbooked(self, round: Round) -> list[bytes]:
        """Return the records of sales that are not orders yet."""
        with answering():
            return rounds.account(self.servers.store, round).sales

    def snapshot(self, round: Round) -> Snapshot:
        """Read the whole round for an audit. Raises an error, too, when its stock is lost."""
        store = self.servers.store
        with answering():
            account = rounds.account(store, round)
            letters = dead_letters.of_round(store, round.item, round.number)
        if account.left is None:
            raise StoreAway("The store has lost this round's stock: was it emptied?")
        waiting, held = sales.readable(round, account.sales), sales.readable(round, account.held)
        still_sold = letters.still_sold
        dead = sales.readable(round, still_sold)
        with db.answering(), db.one_moment(self.servers.sessions) as session:
            rows, others = round_orders(session, round, [*waiting, *dead, *held])
        put_back = len(letters.remaining) - len(still_sold)
        return Snapshot(
            left=account.left,
            waiting=waiting,
            recorded=account.recorded - letters.dropped - put_back,
            rows=rows,
            dead=dead,
            unreadable=len(still_sold) - len(dead) + len(account.held) - len(held),
            put_back=put_back,
            unread=len(account.sales) - len(waiting),
            held=held,
            others=others,
            in_doubt=self._in_doubt(round, len(waiting) + len(held)),
            confirmed=account.confirmed,
        )

    def _in_doubt(self, round: Round, unbooked: int) -> int:
        try:
            if unbooked:
                self.servers.copied(round.item)
        except redis.RedisError:
            return unbooked
        return 0

    def confirm(self, round: Round, orders: int) -> bool:
        """Write into the store how many orders a running round has. False: its stock is lost."""
        return True  # the store counts orders as it lets go of their sales

    def restock(self, session: Session, round: Round, sold_more: bool) -> None:
        """Correct the stock of an ended round that was lost, or whose lost orders came back."""

    def bought(self, item: str, key: str) -> Order | None:
        """Return the order that a key has bought, where the store's own keys do not tell."""
        return None

    def copied(self, order: Order) -> None:
        """Wait until a sale is where DURABILITY wants it. Raises redis.RedisError."""
        self.servers.copied(order.item, Keys(order.item, order.round).key(order.key))

    def settle(self, round: Round, order: Order, stands: Stands) -> Hold:
        """End a hold as `stands` says, unless it has ended already; HELD only reads it."""
        with answering():
            hold = holds.settle(self.servers.store, round, order, stands)
            if hold.stands is not Stands.HELD:  # an end is final, and buyers see it
                # (How it has ended is forgotten after a day; it has no deadline then.)
                ends = [Keys(order.item, order.round).hold(order.id)] if hold.until else []
                self.servers.copied(order.item, *ends)
            return hold

    def next_due(self, round: Round, most: int) -> list[Due]:
        """Return the `most` holds that run out next."""
        with answering():
            return holds.next_due(self.servers.store, round, most)

    def rounds_with_holds(self, item: str) -> list[int]:
        """Return the numbers of the item's rounds that may have holds to sweep."""
        with answering():
            return [each.number for each in rounds.open_streams(self.servers.store, [item]).streams]

    def expire(self, round: Round, most: int) -> list[Order]:
        """Expire up to `most` due holds, and return those whose units are to be put back."""
        while True:
            with answering():
                payloads = holds.expire(self.servers.store, round, most)
            orders = self._readable(round, payloads)
            if orders or len(payloads) < most:  # else readable ones may be behind these
                return orders

    def _readable(self, round: Round, sales: list[bytes]) -> list[Order]:
        """Decode the sales; log one line for all that cannot be read and were not logged before."""
        orders, bad = list[Order](), list[bytes]()
        for sale in sales:
            try:
                orders.append(Order.decode(sale))
            except Unreadable:
                bad.append(sale)
        if unlogged := [sale for sale in bad if sale not in self.unreadable]:
            self.unreadable.update(unlogged)
            line = "round %d of %s: %d holds stay held, as they cannot be read. The first: %.200r"
            log.warning(line, round.number, round.item, len(unlogged), unlogged[0])
        return orders

    def put_back(
        self, round: Round, over: Sequence[Order], lock: Handle | None = None, running: bool = True
    ) -> bool:
        """Put the units of holds that are `over` back, in one step: each hold's once.

        They go into a `running` round's stock if it needs no `lock`, or if the caller has that
        lock. False: other processes were in the way, and nothing was done.
        """
        owner, fence = (lock.owner, getattr(lock, "fence", None)) if lock else ("", None)
        with answering():
            return holds.put_back(self.servers.store, round, over, running, owner, fence)
