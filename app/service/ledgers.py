"""Where a round's stock, sales and holds are kept: in the store, or in the database."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from operator import sub
from typing import NamedTuple

import redis
from sqlalchemy.orm import Session

from app.domain import (
    DatabaseAway,
    Due,
    Hold,
    Order,
    Round,
    Stands,
    StockHeld,
    StoreAway,
    Unreadable,
)
from app.locks.handle import Handle
from app.modes import Way
from app.store import (
    accounts,
    db,
    dead_letters,
    holds,
    lacks,
    orders,
    rounds,
    sales,
    sql_holds,
    units,
)
from app.store import stock as table
from app.store.keys import Keys
from app.store.orders import Booked, OrderLine
from app.store.redis import answering
from app.store.sales import KEY_LIFE
from app.store.servers import Servers
from app.store.transactions import IDLE_S, Contended, lock_file

# For a batch of holds, however impatient a round's buyers are: it takes longer than a sale, and
# where all of its statements time out it never comes back.
SHORTEST_WAIT_S = 1.0
# To wait for sellers that hold the row of a round that has ended; one that is frozen loses it.
LAST_SALE_S = IDLE_S + 1
STEP_S = 0.2  # of it, for each try

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Snapshot:
    """One reading of store and database: a sale on its way is seen twice, never missed."""

    left: int
    waiting: list[Order]  # sales in the stream, not yet orders
    recorded: int  # sales ever written to the stream, but for those dropped or put back
    rows: dict[str, OrderLine]  # by id: those with an id or key of what is in the store, or held
    dead: list[Order] = field(default_factory=list)  # dead letters that can be read
    unreadable: int = 0  # dead letters and holds that cannot
    put_back: int = 0  # dead letters whose units are in stock again: their keys had bought before
    unread: int = 0  # entries of the stream that cannot be read: dead letters to be
    held: list[Order] = field(default_factory=list)  # neither left nor paid for
    astray: int = 0  # units that are rows, and are not whose the orders and holds say
    others: Booked = field(default_factory=Booked)  # the sum of all other orders
    in_doubt: int = 0  # sales and holds in the store that no replica confirms
    confirmed: int = 0  # orders that the database has had, as far as the store knows


class StoreLedger:
    """Stock is a key, sales and holds are streams; fulfil makes orders of the sales.

    It has the same methods as DatabaseLedger; all raise StoreAway, DatabaseAway.
    """

    buyers_sweep = True  # a buyer who is sold out expires holds; else only fulfil does
    ask_store_first = False  # what a key has bought its modes do not see

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.unreadable: set[bytes] = set()  # sales of holds that were logged as such

    def stock(self, round: Round) -> bool:
        """Stock a new round. False: somebody else is starting that very one."""
        return True  # in the step that begins the round

    def close(self, ended: Round) -> bool:
        """Let nobody sell from an ended round's stock. False: somebody still does."""
        return True  # in the step that has ended it

    def handed_over(self, before: Round) -> bool:
        """Let the store know which keys have bought in a round, before the next one begins.

        False: it was not known, and by now somebody else may have begun the next one.
        """
        return True

    def left(self, round: Round) -> int | None:
        """Units left in stock; None when they are lost."""
        with answering():
            return rounds.left(self.servers.store, round)

    def sold(self, round: Round) -> int:
        """What was sold so far, cheaply: units, or sales in the store."""
        with answering():
            return rounds.recorded(self.servers.store, round)

    def unbooked(self, round: Round) -> list[bytes]:
        """The records of sales that are not orders yet."""
        with answering():
            return accounts.of_round(self.servers.store, round).sales

    def snapshot(self, round: Round) -> Snapshot:
        """Read the whole round for an audit. Raises also when its stock is lost."""
        store = self.servers.store
        with answering():
            account = accounts.of_round(store, round)
            letters = dead_letters.of_round(store, round.item, round.number)
        if account.left is None:
            raise StoreAway("The store has lost this round's stock: was it emptied?")
        waiting, held = sales.readable(round, account.sales), sales.readable(round, account.held)
        still_sold = letters.still_sold
        dead = sales.readable(round, still_sold)
        with db.answering(), db.one_moment(self.servers.sessions) as session:
            rows, others = _booked(session, round, [*waiting, *dead, *held])
        put_back = len(letters.kept) - len(still_sold)
        return Snapshot(
            account.left,
            waiting,
            account.recorded - letters.dropped - put_back,
            rows,
            dead,
            len(still_sold) - len(dead) + len(account.held) - len(held),
            put_back,
            len(account.sales) - len(waiting),
            held,
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

    def bought(self, item: str, key: str) -> Order | None:
        """The order that a key has bought, where the store's own keys do not tell."""
        return None

    def copied(self, order: Order) -> None:
        """Wait until a sale is where DURABILITY wants it. Raises redis.RedisError."""
        self.servers.copied(order.item, Keys(order.item, order.round).key(order.key))

    def settle(self, round: Round, order: Order, stands: Stands) -> Hold:
        """End a hold as asked, if nobody was faster; HELD only looks."""
        with answering():
            hold = holds.settle(self.servers.store, round, order, stands)
            if hold.stands is not Stands.HELD:  # that is for good, and told
                # (How it has ended is forgotten after a day; it has no deadline then.)
                ends = [Keys(order.item, order.round).hold(order.id)] if hold.until else []
                self.servers.copied(order.item, *ends)
            return hold

    def next_due(self, round: Round, most: int) -> list[Due]:
        """The `most` holds that run out next."""
        with answering():
            return holds.next_due(self.servers.store, round, most)

    def rounds_with_holds(self, item: str) -> list[int]:
        """Numbers of the item's rounds that may have holds to sweep."""
        with answering():
            return [each.number for each in rounds.open_streams(self.servers.store, [item]).streams]

    def expire(self, round: Round, most: int) -> list[Order]:
        """Expire up to `most` holds that are due; those whose units are to be put back."""
        while True:
            with answering():
                found = holds.expire(self.servers.store, round, most)
            orders = self._readable(round, found)
            if orders or len(found) < most:  # else readable ones may be behind these
                return orders

    def _readable(self, round: Round, sales: list[bytes]) -> list[Order]:
        """Decode the sales; log one line for all that cannot be read and were not logged before."""
        orders, bad = list[Order](), list[bytes]()
        for sale in sales:
            try:
                orders.append(Order.decode(sale))
            except Unreadable:
                bad.append(sale)
        if news := [sale for sale in bad if sale not in self.unreadable]:
            self.unreadable.update(news)
            said = "round %d of %s: %d holds stay held, as they cannot be read. The first: %.200r"
            log.warning(said, round.number, round.item, len(news), news[0])
        return orders

    def put_back(
        self, round: Round, over: Sequence[Order], lock: Handle | None = None, running: bool = True
    ) -> bool:
        """Put the units of holds that are `over` back, in one step: each hold's once.

        Into a `running` round's stock, where that needs it under a `lock` that the caller has.
        False: others were in the way, and nothing was done.
        """
        owner, fence = (lock.owner, getattr(lock, "fence", None)) if lock else ("", None)
        with answering():
            return holds.put_back(self.servers.store, round, over, running, owner, fence)


class DatabaseLedger:
    """Stock, orders and holds are rows; the store knows the round, and its keys once it is over."""

    buyers_sweep = False
    ask_store_first = True  # it knows all keys; the database not yet what fulfil has not moved

    def __init__(self, servers: Servers, in_rows: bool) -> None:
        """`in_rows`: each unit of the stock is one."""
        self.servers = servers
        self.in_rows = in_rows

    def stock(self, round: Round) -> bool:
        with db.answering(), self.servers.sessions.begin() as session:
            return table.put(session, round, self.in_rows)

    def close(self, ended: Round) -> bool:
        """Its record says that it has ended, and workers leave it within a second.

        A buyer in mid-sale then, and those in line behind it, sell as if they had come before the
        end. No audit is mixed by that: order and stock name their round.
        """
        try:
            with self.servers.transactions.begin(STEP_S) as sql:
                table.end(sql, ended)
        except DatabaseAway:
            return False
        return True

    def handed_over(self, before: Round) -> bool:
        """So no purchase has to ask the database for its key.

        Raises StockHeld, redis.RedisError; DatabaseAway (then the round may have ended, and the
        next start goes on with it).
        """
        done = Keys(before.item, before.number).handed_over
        if self.servers.store.exists(done):
            return True
        self._hand_over(before)
        self.servers.store.set(done, 1, ex=KEY_LIFE)  # like the keys that it tells of
        return False

    def _hand_over(self, before: Round) -> None:
        """End the round and hand its keys over.

        Meanwhile the item is not on sale: for a moment, or some seconds where a hundred thousand
        have bought.
        """
        self.left(before)  # while the database is away, nothing is ended
        rounds.end(self.servers.store, before.item, before.number)
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
                sales.remember(self.servers.store, sold)
            for held in sql_holds.since(session, before.item, since, before.number):
                sales.remember(self.servers.store, held)

    def left(self, round: Round) -> int | None:
        return self.left_of([round])[round.item]

    def left_of(self, rounds: Iterable[Round]) -> dict[str, int | None]:
        """The same of several items' rounds, in one session."""
        with db.answering(), self.servers.sessions() as session:
            return {round.item: table.left(session, round) for round in rounds}

    def sold(self, round: Round) -> int:
        with db.answering(), self.servers.sessions() as session:
            return orders.units_of_round(session, round.item, round.number)

    def unbooked(self, round: Round) -> list[bytes]:
        return []

    def snapshot(self, round: Round) -> Snapshot:
        with answering():
            confirmed = lacks.booked(self.servers.store, round.item).get(round.number, 0)
        with db.answering(), db.one_moment(self.servers.sessions) as session:
            left = table.left(session, round)
            held = sql_holds.of_round(session, round.item, round.number) if round.hold else []
            rows, others = _booked(session, round, held)
            astray = units.astray(session, round) if self.in_rows else 0
        if left is None:
            raise DatabaseAway("The database has lost this round's stock: was it emptied?")
        recorded = len(rows) + others.orders
        return Snapshot(
            left, [], recorded, rows, held=held, astray=astray, others=others, confirmed=confirmed
        )

    def bought(self, item: str, key: str) -> Order | None:
        with db.answering(), self.servers.sessions() as session:
            return table.bought(session, item, key)

    def copied(self, order: Order) -> None:
        """The database answers once it has a sale for good."""

    def settle(self, round: Round, order: Order, stands: Stands) -> Hold:
        now = self.servers.clock.now()
        with db.answering(), self.servers.sessions.begin() as sql:
            found = sql_holds.settle(sql, order, stands, now)
        if found is None:
            raise DatabaseAway("The database has lost this hold: was it emptied?")
        return found

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


Ledger = StoreLedger | DatabaseLedger


class Ledgers:
    """The ledgers over one store and one database."""

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.store = StoreLedger(servers)

    @cached_property
    def database(self) -> DatabaseLedger:
        return DatabaseLedger(self.servers, in_rows=False)

    @cached_property
    def rows(self) -> DatabaseLedger:
        return DatabaseLedger(self.servers, in_rows=True)

    def of(self, round: Round) -> Ledger:
        way = Way.of(round.mode)
        if way.in_database:
            return self.rows if way.in_rows else self.database
        return self.store


class BookedBeside(NamedTuple):
    """`rows` are orders that may be, or contradict, what is beside them; `others` sums the rest."""

    rows: dict[str, OrderLine]
    others: Booked


def _booked(session: Session, round: Round, beside: Sequence[Order]) -> BookedBeside:
    """`rows` are all that have a key of those `beside`: so no key is counted in both."""
    look = partial(orders.sharing, session, round.item, round.number)
    fitting = [order for order in beside if not orders.misfit(order)]  # others no database has
    keys = {order.key for order in fitting}
    rows = look({order.id for order in fitting}, keys)
    rows |= look((), {row.key for row in rows.values()} - keys)
    every = orders.count(session, round.item, round.number)
    units = sum(row.quantity for row in rows.values())
    found = Booked(len(rows), units, len({row.key for row in rows.values()}))
    return BookedBeside(rows, Booked(*map(sub, every, found)))


def _wait_s(round: Round) -> float:
    return max(SHORTEST_WAIT_S, round.wait / 1000)
