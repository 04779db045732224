"""What becomes of units that are taken and not paid for: settled once, put back once.

Two steps: whoever comes first settles a hold, in one step on its own record; then the units go back
into stock, in one step with taking them out of `held`, and under the lock under which the round's
mode sells. If a process dies in between, the units are still held, and the next sweep puts them
back. A sweep does each step for many holds at once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from app.domain import (
    AlreadyPaid,
    Clock,
    DatabaseAway,
    Hold,
    HoldOver,
    Order,
    Outcome,
    Round,
    Stands,
    StoreAway,
    Unreadable,
)
from app.locks.handle import Handle
from app.modes import MODES
from app.service.answer import Answer
from app.service.catalogue import in_rows
from app.service.fitness import unfit
from app.service.known import known
from app.service.rounds import in_database
from app.store import begun, db, holds, rounds, sql_holds, stock
from app.store.keys import Keys
from app.store.redis import answering, metered
from app.store.servers import Servers
from app.store.transactions import Contended, lock_file

LATE_MS = 3_600_000  # after its deadline a hold's expiry is noted: the store knows it for a day
# For a batch in the database, however impatient a round's buyers are: it takes longer than a sale,
# and where all of its statements time out it never comes back.
SHORTEST_WAIT_S = 1.0

log = logging.getLogger(__name__)


class Holds:
    """Used by the workers of the shop, and by fulfil's sweep."""

    def __init__(self, servers: Servers, clock: Clock | None = None) -> None:
        """`clock` is the modes': the explorer hands in one of its own."""
        self.servers = servers
        self.clock = clock or Clock()
        self.at_once: set[tuple[str, int]] = set()  # rounds whose purchases nobody has to pay for
        self.unreadable: set[bytes] = set()  # sales of holds that were logged as such
        # Called with an end of a hold before its buyer is told (see witness).
        self.ended: list[Callable[[Round, Hold], None]] = []

    def look(self, order: Order, round: Round | None = None) -> Hold | None:
        """How it stands; None: it was sold at once, or nobody knows its round any more.

        What is found expired is put back. Raises StoreAway, DatabaseAway.
        """
        round = round or self._round(order)
        return self._settle(round, order, Stands.HELD) if round else None

    def answered(self, answer: Answer) -> Answer:
        """To a buyer: with how the hold stands that was made now, or by the same key before.

        Raises HoldOver, StoreAway, DatabaseAway.
        """
        made, round = answer.sale.order, answer.round
        if made is None:
            return answer
        if made.round != round.number or not round.mode:  # an earlier one, which nobody could tell
            round = self._round(made) or replace(round, hold=0)
        if not round.hold:
            return answer
        with metered(answer.wire):
            hold = self.look(made, round)
        if hold and hold.over:
            raise HoldOver(hold)
        held = hold is not None and hold.stands is Stands.HELD
        outcome = Outcome.HELD if held else Outcome.SOLD
        sale = replace(answer.sale, outcome=outcome)
        return replace(answer, sale=sale, round=round, hold=hold)

    def pay(self, order: Order) -> None:
        """Make it an order; one that is already is left as it is.

        Raises HoldOver; StoreAway or DatabaseAway, and whether it is paid is then unknown: pay
        again.
        """
        round = self._round(order)
        hold = self._end(round, order, Stands.PAID) if round else None
        if hold and hold.over:
            raise HoldOver(hold)

    def give_up(self, order: Order, stands: Stands) -> Hold:
        """DECLINED or CANCELLED, and its units are on sale again.

        Raises HoldOver when it has ended in another way, AlreadyPaid; else as `pay`.
        """
        round = self._round(order)
        hold = self._end(round, order, stands) if round else None
        if hold is None or hold.stands is Stands.PAID:
            raise AlreadyPaid
        if hold.stands is not stands:
            raise HoldOver(hold)
        return hold

    def _end(self, round: Round, order: Order, stands: Stands) -> Hold:
        hold = self._settle(round, order, stands)
        # The store forgets an end after a day: long past the deadline that may be soon.
        if hold.now < hold.until + (LATE_MS if hold.stands is Stands.EXPIRED else 0):
            for note in self.ended:
                note(round, hold)
        return hold

    def next_due(self, round: Round, most: int) -> list[tuple[Order, int]]:
        """The `most` that run out next, with the ms until then; less than 0: they come back now.

        Raises StoreAway, DatabaseAway.
        """
        if not round.hold:
            return []
        if not in_database(round.mode):
            with answering():
                return holds.next_due(self.servers.store, round, most)
        now = self.servers.clock.now()
        with db.answering(), self.servers.sessions() as sql:
            return sql_holds.next_due(sql, round, now, most)

    def sweep(self, round: Round, most: int) -> int:
        """Expire up to `most` holds of a round that are due, and put their units back: how many.

        0 in a round that sells in the database. Raises StoreAway.
        """
        if in_database(round.mode):
            return 0
        while True:
            with answering():
                found = holds.expire(self.servers.store, round, most)
            orders = self._readable(round, found)
            if orders or len(found) < most:  # else readable ones may be behind these
                return len(orders) if self.put_back(round, orders) else 0

    def sweep_database(self, round: Round, most: int) -> int:
        """The same of a round that sells there. Raises StoreAway, DatabaseAway."""
        now = self.servers.clock.now()
        with db.answering(), self.servers.sessions.begin() as sql:
            lock_file(sql.connection(), _wait_s(round))
            orders = sql_holds.expire(sql, round, now, most)
        return len(orders) if self.put_back(round, orders) else 0

    def due_in_database(self, item: str) -> list[int]:
        """Numbers of the item's rounds that have holds to sweep there.

        Raises StoreAway, DatabaseAway.
        """
        now = self.servers.clock.now()
        with db.answering(), self.servers.sessions() as sql:
            return sql_holds.rounds_due(sql, item, now)

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

    def _settle(self, round: Round, order: Order, stands: Stands) -> Hold:
        hold = self._settled(round, order, stands)
        if not hold.owed:
            return hold
        try:
            return replace(hold, owed=not self.put_back(round, [order]))
        except (StoreAway, DatabaseAway) as error:  # the sweep will come by
            log.warning("order %s: its units are not put back yet: %s", order.id, error)
            return hold

    def _settled(self, round: Round, order: Order, stands: Stands) -> Hold:
        if not in_database(round.mode):
            with answering():
                hold = holds.settle(self.servers.store, round, order, stands)
                if hold.stands is not Stands.HELD:  # that is for good, and told
                    # (How it has ended is forgotten after a day; it has no deadline then.)
                    ends = [Keys(order.item, order.round).hold(order.id)] if hold.until else []
                    self.servers.copied(order.item, *ends)
                return hold
        now = self.servers.clock.now()
        with db.answering(), self.servers.sessions.begin() as sql:
            there = sql_holds.settle(sql, order, stands, now)
        if there is None:
            raise DatabaseAway("The database has lost this hold: was it emptied?")
        return there

    def put_back(self, round: Round, orders: Sequence[Order]) -> bool:
        """Put the units of holds that are over back, in one step; True also when they are back.

        False: others were in the way, and nothing was done. Raises StoreAway, DatabaseAway.
        """
        if not orders:
            return True
        if in_database(round.mode):
            try:
                wait = _wait_s(round)
                with self.servers.transactions.begin(wait) as sql:
                    lock_file(sql, wait)
                    stock.put_back(sql, round, orders, in_rows(round.mode))
            except Contended:
                return False
            return True
        with answering():
            mode = MODES[round.mode.partition(":")[0]](self.servers, self.clock, round)
            if not mode.recipe:  # nobody's write is based on what was read before
                return holds.put_back(self.servers.store, round, orders, running=True)
            if round.running and round.masters and (why := unfit(self.servers, round)):
                raise StoreAway(why)
            if round.running and self._put_back_under(mode.lock(), round, orders):
                return True
            return holds.put_back(self.servers.store, round, orders, running=False)

    def _put_back_under(self, lock: Handle, round: Round, orders: Sequence[Order]) -> bool:
        if not lock.acquire(wait_s=round.wait / 1000):
            return False
        try:
            fence = getattr(lock, "fence", None)
            return holds.put_back(self.servers.store, round, orders, True, lock.owner, fence)
        finally:
            lock.release()

    def find(self, item: str, number: int) -> Round | None:
        """A round whose units are held until they are paid for; None: it sells at once.

        Raises StoreAway, also when the round is lost, DatabaseAway, Unreadable.
        """
        if (item, number) in self.at_once:
            return None
        with answering():
            found = rounds.find(self.servers.store, item, number)
        if found is None:
            with db.answering(), self.servers.sessions() as sql:
                found = begun.round(sql, item, number)
        if found is None:
            raise StoreAway(f"The store has lost round {number} of {item}.")
        if known(found).hold:
            return found
        self.at_once.add((item, number))
        return None

    def _round(self, order: Order) -> Round | None:
        """None: it sold at once, or is not known here.

        Raises StoreAway, DatabaseAway; also when its units are held, and nobody knows in which
        round; Unreadable when they are or may be, in one that a newer version began.
        """
        name = order.item, order.round
        if name in self.at_once:
            return None
        try:
            with answering():
                found = rounds.find(self.servers.store, order.item, order.round)
            found = found or self._in_books(order)
            if found and not known(found).hold:
                self.at_once.add(name)
                return None
        except Unreadable:
            if self._may_hold(order):
                raise
            return None
        return found

    def _may_hold(self, order: Order) -> bool:
        """Is it, or was it, a hold? In a round whose record cannot be read here."""
        names = Keys(order.item, order.round)
        with answering():
            pipe = self.servers.store.pipeline()
            pipe.hexists(names.held, order.id)
            pipe.exists(names.hold(order.id))
            pipe.xlen(names.holds)  # nobody has looked yet whose they are
            if any(pipe.execute()):
                return True
        with db.answering(), self.servers.sessions() as sql:
            return sql_holds.find(sql, order.id) is not None

    def _in_books(self, order: Order) -> Round | None:
        """What the store has forgotten: a hold that stands in the database outlives it."""
        with db.answering(), self.servers.sessions() as sql:
            found = begun.round(sql, order.item, order.round)
            held = sql_holds.find(sql, order.id)
        if held and not found:
            raise StoreAway(f"The store has lost round {order.round} of {order.item}.")
        return found


def _wait_s(round: Round) -> float:
    return max(SHORTEST_WAIT_S, round.wait / 1000)
