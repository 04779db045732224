"""Compare store and database: if either has lost data that the other has seen, sales stop.

The books are the database. For each item they know the newest round that was begun, in which store,
and how many orders each round has. A store that was emptied or replaced, or whose log was cut, has
fewer. What the store lost before it was booked, workers may know (see loss_detector), or only the
buyer.

The store counts the orders that the books have confirmed. A database restored from a backup has
fewer.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import event

from app.domain import (
    ITEMS,
    DatabaseAway,
    Lack,
    Lacking,
    Loss,
    Order,
    Round,
    ShopError,
    Unreadable,
    WrongPair,
)
from app.modes import Way
from app.service.ledgers import Ledgers
from app.service.pairing import Pairing
from app.service.refusals import require_item
from app.store import holds, loss_marks, sales
from app.store import rounds as records
from app.store.clients.redis import answering
from app.store.loss_marks import There
from app.store.sales import KEY_LIFE
from app.store.servers import Servers
from app.store.sql import begun_rounds, db, orders
from app.store.sql import holds as sql_holds
from app.store.sql.begun_rounds import Seen

WATCH = 60.0  # s between two looks at a store that seems the same; see keep_watch
TURN = 0.2  # s after which a new connection to the store is noticed at the latest
AGAIN = 2.0  # s until the next look when store or database were away
NEWEST = 20  # rounds whose orders are counted with each look; an audit counts its own round's

log = logging.getLogger(__name__)


class UsedNumbers(NamedTuple):
    """The highest number of an item's rounds; `by_books`: the database was asked, too."""

    highest: int
    by_books: bool


class ConsistencyCheck:
    """Checks items for losses: when a round is begun, in the fulfil process, and by a command."""

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.store = servers.store
        self.pairing = Pairing(servers)
        self.ledgers = Ledgers(servers)

    def look(self, item: str) -> Lack | None:
        """Return an item's loss that is not accepted yet, found now or earlier; else None.

        A new loss is marked: nothing of the item is sold any more. Raises UnknownItem, WrongPair,
        StoreAway, DatabaseAway.
        """
        require_item(item)
        self.pairing.require(item)
        return self._look(item, self._seen(item), self._lost_orders(item))

    def look_at_all(self) -> list[str]:
        """Check all items and return a sentence for each loss. Raises StoreAway, DatabaseAway."""
        wrong, sentences = "", []
        for item in ITEMS:
            try:
                if lack := self.look(item):
                    sentences.append(str(lack.sentence))
            except WrongPair as error:  # the first stands for all items
                wrong = wrong or str(error)
        return [wrong, *sentences] if wrong else sentences

    def used_numbers(self, item: str) -> UsedNumbers:
        """Return the numbers that the item's next round must exceed: no number is used twice.

        Raises Lacking, WrongPair, StoreAway; DatabaseAway when only the database could tell.
        """
        try:
            self.pairing.require(item)
            booked = self._seen(item)
        except DatabaseAway:
            with answering():
                state = loss_marks.look(self.store, item)
            if not state.newest:  # it may have been emptied
                raise
            return UsedNumbers(state.accepted, by_books=False)
        if lack := self._look(item, booked, self._lost_orders(item)):
            raise Lacking(lack)
        with answering():
            newest = max(booked.round, loss_marks.look(self.store, item).accepted)
        return UsedNumbers(newest, by_books=True)

    def begun(self, round: Round) -> None:
        """Note a new round in the books; if the database is away, the first order does it."""
        with answering():
            store = loss_marks.look(self.store, round.item).store
        try:
            with db.answering(), self.servers.sessions.begin() as session:
                begun_rounds.note(session, round.item, round.number, store)
                begun_rounds.keep(session, round)
        except DatabaseAway as error:
            log.warning("round %d of %s is not in the books: %s", round.number, round.item, error)

    def accept(self, item: str) -> Lack | None:
        """Accept an item's loss and put the item on sale again. Return the loss; None without one.

        The next round's number is above all that were seen. The store first gets the keys that have
        bought within a day. Raises as `look` does.
        """
        lack = self.look(item)
        with answering():
            mark = loss_marks.standing(self.store, item)
        if lack is None or mark is None:
            return None
        self.sell_again(lack, mark)
        return lack

    def sell_again(self, lack: Lack, mark: bytes) -> None:
        """Put the item on sale again, after `lack` was accepted or repaired.

        `mark` is the loss mark that the caller has dealt with (see loss_marks.standing). The books
        are right: an order that they have is paid for, whatever the store says of its hold. May be
        repeated. Raises Lacking when another loss was found meanwhile.
        """
        item = lack.item
        booked = self._seen(item)
        with answering():
            state = loss_marks.look(self.store, item)
        up_to = max(booked.round, state.newest, state.accepted, lack.round)
        self._note(item, up_to)
        self._remember_keys(item)
        with answering():
            done = loss_marks.accept(self.store, item, up_to, mark)
        if not done and (other := self.look(item)):
            raise Lacking(other)

    def pair(self, item: str) -> None:
        """Pair store and database, whatever they were paired with before.

        Rounds of another store that the database knows are over: the next one gets a higher number.
        Raises StoreAway, DatabaseAway; Unreadable when the running round belongs to a newer
        version.
        """
        booked = self._seen(item)
        with answering():
            state = loss_marks.look(self.store, item)
            if booked.round and booked.store != state.store and state.lack is None:
                records.end(self.store, item)
                loss_marks.accept(
                    self.store, item, max(booked.round, state.newest, state.accepted), None
                )
        self.pairing.name(item, replace=True)
        self._remember_keys(item)

    def confirm(self, item: str, number: int) -> None:
        """Write into the store how many orders a round has that sells in the database.

        Raises StoreAway, DatabaseAway.
        """
        with db.answering(), self.servers.sessions() as session:
            there_are = orders.counts(session, item, [number]).get(number, 0)
        with answering():
            loss_marks.confirm(self.store, item, number, there_are)

    def keep_watch(self, stop: threading.Event) -> None:
        """Check all items on each new connection to store or database, and every WATCH seconds.

        A new store may have sold before the check: its orders show that as soon as they are booked.
        """
        met = threading.Event()
        self.servers.met.append(lambda _: met.set())
        event.listen(self.servers.engine, "connect", lambda *_: met.set())
        next_look = 0.0
        while not stop.wait(TURN):
            if met.is_set() or time.monotonic() > next_look:
                met.clear()
                next_look = time.monotonic() + (WATCH if self._look_at_all() else AGAIN)

    def _look_at_all(self) -> bool:
        """Check all items; False when some could not be, as one node of a cluster may be away."""
        well = True
        for item in ITEMS:
            try:
                if lack := self.look(item):
                    log.error("%s", lack.sentence)
            except WrongPair:  # said by the watch of the pairing
                continue
            except Exception as error:
                trace = not isinstance(error, ShopError)
                log.warning(
                    "whether the store lacks something of %s: %s", item, error, exc_info=trace
                )
                well = False
        return well

    def _remember_keys(self, item: str) -> None:
        """Write into the store what the books have sold within a day."""
        for bought in self._bought_since(item, self.servers.clock.now() - KEY_LIFE * 1000):
            with answering():
                sales.remember(self.store, bought)
                holds.booked(self.store, bought)

    def _note(self, item: str, round: int) -> None:
        store = self.pairing.name(item, replace=True).store
        with db.answering(), self.servers.sessions.begin() as session:
            begun_rounds.note(session, item, round, store.id)

    def _bought_since(self, item: str, moment: int) -> Iterator[Sequence[Order]]:
        """Yield the database's orders and holds since `moment` (ms), in parts."""
        with db.answering(), self.servers.sessions() as session:
            yield from orders.since(session, item, moment)
            yield from sql_holds.since(session, item, moment)

    def _seen(self, item: str) -> Seen:
        with db.answering(), self.servers.sessions() as session:
            return begun_rounds.seen(session, item)

    def _look(self, item: str, booked: Seen, lost: Lack | None) -> Lack | None:
        """Compare the store with books that were read before, and return a loss.

        The store only grows, so a sale between the two readings does not look like a loss.
        """
        with answering():
            state = loss_marks.look(self.store, item)
            recorded = loss_marks.recorded(self.store, item, booked.round)
            lack = state.lack or _lack(item, booked, state, recorded) or lost
            return lack if lack and loss_marks.mark(self.store, lack) else None

    def _lost_orders(self, item: str) -> Lack | None:
        """Return the database's loss. Reads the store first: it only counts committed orders."""
        with answering():
            state = loss_marks.look(self.store, item)
            confirmed = loss_marks.booked(self.store, item)
            newest = self._running(item, state.newest)
        numbers = [number for number in sorted(confirmed) if number > state.accepted][-NEWEST:]
        with db.answering(), self.servers.sessions() as session:
            orders_of = orders.counts(session, item, {*numbers, state.newest})
        stocked = newest is None or self.ledgers.of(newest).confirm(
            newest, orders_of.get(newest.number, 0)
        )
        short = [number for number in numbers if orders_of.get(number, 0) < confirmed[number]]
        if short:
            last = short[-1]
            booked = orders_of.get(last, 0)
            return Lack(item, Loss.ORDERS, last, short[0], booked, confirmed[last])
        return None if stocked else Lack(item, Loss.STOCK, state.newest, state.newest)

    def _running(self, item: str, number: int) -> Round | None:
        """Return the round with that number, if it runs in a mode of this version; else None."""
        try:
            round = records.find(self.store, item, number)
        except Unreadable:  # a newer version looks after it
            return None
        return round if round and round.running and Way.exists(round.mode) else None


def _lack(item: str, seen: Seen, there: There, recorded: int | None) -> Lack | None:
    if there.newest < seen.round:
        loss = Loss.OLDER if there.newest else Loss.EMPTIED
        return Lack(item, loss, seen.round, there.newest)
    if recorded is not None and seen.orders > recorded:
        return Lack(item, Loss.SALES, seen.round, seen.round, seen.orders, recorded)
    return None
