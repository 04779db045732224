"""Holds: units that are taken and not paid for are settled once, and put back once.

Two steps: the first caller settles a hold, in one step on its own record; then the units go back
into stock, in one step with taking them out of `held`, and under the lock under which the round's
mode sells. If a process dies in between, the units are still held, and the next sweep puts them
back. A sweep does each step for many holds at once.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from app.domain import (
    ITEMS,
    AlreadyPaid,
    Clock,
    DatabaseAway,
    Due,
    Hold,
    HoldOver,
    Order,
    Round,
    Stands,
    StoreAway,
    Unreadable,
)
from app.locks.handle import Handle
from app.modes import LockingMode, Way
from app.service.catalogue import require_supported, unfit
from app.service.ledgers import Ledgers
from app.service.pairing import Pairing
from app.service.stream_backoff import StreamBackoff
from app.store import rounds
from app.store.clients.redis import answering
from app.store.keys import Keys
from app.store.servers import Servers
from app.store.sql import begun_rounds, db
from app.store.sql import holds as sql_holds

LATE_MS = 3_600_000  # after its deadline a hold's expiry is noted: the store knows it for a day

log = logging.getLogger(__name__)


class Holds:
    """The holds of all rounds, as the shop's workers and fulfil's sweep use them."""

    def __init__(self, servers: Servers, clock: Clock | None = None) -> None:
        """`clock` is the clock of the modes; the explorer hands in one of its own."""
        self.servers = servers
        self.clock = clock or Clock()
        self.ledgers = Ledgers(servers)
        self.at_once: set[tuple[str, int]] = set()  # rounds that sell without a payment
        # Called with an end of a hold before its buyer gets the answer (see loss_detector).
        self.ended: list[Callable[[Round, Hold], None]] = []

    def look(self, order: Order, round: Round | None = None) -> Hold | None:
        """Return the order's hold; None if it was sold at once, or if its round is unknown by now.

        A hold that has expired is put back. Raises StoreAway, DatabaseAway.
        """
        round = round or self.round_of(order)
        return self._settle(round, order, Stands.HELD) if round else None

    def pay(self, order: Order) -> None:
        """Pay for a hold, so that it becomes an order; an order that is paid already stays so.

        Raises HoldOver; StoreAway or DatabaseAway: whether it is paid is then unknown, so pay
        again.
        """
        round = self.round_of(order)
        hold = self._end(round, order, Stands.PAID) if round else None
        if hold and hold.over:
            raise HoldOver(hold)

    def give_up(self, order: Order, stands: Stands) -> Hold:
        """End a hold as DECLINED or CANCELLED, and put its units on sale again.

        Raises HoldOver when it has ended in another way, AlreadyPaid; else as `pay`.
        """
        round = self.round_of(order)
        hold = self._end(round, order, stands) if round else None
        if hold is None or hold.stands is Stands.PAID:
            raise AlreadyPaid
        if hold.stands is not stands:
            raise HoldOver(hold)
        return hold

    def _end(self, round: Round, order: Order, stands: Stands) -> Hold:
        hold = self._settle(round, order, stands)
        # The store forgets an end after a day; long after the deadline that may happen soon.
        if hold.now < hold.until + (LATE_MS if hold.stands is Stands.EXPIRED else 0):
            for note in self.ended:
                note(round, hold)
        return hold

    def next_due(self, round: Round, most: int) -> list[Due]:
        """Return the `most` holds that run out next. Raises StoreAway, DatabaseAway."""
        return self.ledgers.of(round).next_due(round, most) if round.hold else []

    def sweep(self, round: Round, most: int) -> int:
        """Expire up to `most` due holds of a round, put their units back, and return how many.

        Raises StoreAway, DatabaseAway.
        """
        orders = self.ledgers.of(round).expire(round, most)
        return len(orders) if self.put_back(round, orders) else 0

    def _settle(self, round: Round, order: Order, stands: Stands) -> Hold:
        hold = self.ledgers.of(round).settle(round, order, stands)
        if not hold.owed:
            return hold
        try:
            return replace(hold, owed=not self.put_back(round, [order]))
        except (StoreAway, DatabaseAway) as error:  # the next sweep tries again
            log.warning("order %s: its units are not put back yet: %s", order.id, error)
            return hold

    def put_back(self, round: Round, orders: Sequence[Order]) -> bool:
        """Put the units of ended holds back, in one step; True also when they were back already.

        False: other processes were in the way, and nothing was done. Raises StoreAway,
        DatabaseAway.
        """
        if not orders:
            return True
        ledger = self.ledgers.of(round)
        mode = Way.of(round.mode).mode(self.servers, self.clock, round)
        if not isinstance(mode, LockingMode):  # its sellers check what they write
            return ledger.put_back(round, orders)
        if round.running and round.masters and (why := unfit(self.servers, round)):
            raise StoreAway(why)
        if round.running and self._put_back_under(mode.lock(), round, orders):
            return True
        return ledger.put_back(round, orders, running=False)

    def _put_back_under(self, lock: Handle, round: Round, orders: Sequence[Order]) -> bool:
        with answering():
            if not lock.acquire(wait_s=round.wait / 1000):
                return False
            try:
                return self.ledgers.of(round).put_back(round, orders, lock)
            finally:
                lock.release()

    def find(self, item: str, number: int) -> Round | None:
        """Return a round whose units are held until they are paid for; None if it sells at once.

        Raises StoreAway, also when the round is lost, DatabaseAway, Unreadable.
        """
        if (item, number) in self.at_once:
            return None
        with answering():
            round = rounds.find(self.servers.store, item, number)
        if round is None:
            with db.answering(), self.servers.sessions() as sql:
                round = begun_rounds.round(sql, item, number)
        if round is None:
            raise StoreAway(f"The store has lost round {number} of {item}.")
        if require_supported(round).hold:
            return round
        self.at_once.add((item, number))
        return None

    def round_of(self, order: Order) -> Round | None:
        """Return the order's round; None if that sells without holds, or is unknown here.

        Raises StoreAway, DatabaseAway; also when the order's units are held, and its round cannot
        be found. Raises Unreadable when its units may be held in a newer version's round.
        """
        name = order.item, order.round
        if name in self.at_once:
            return None
        try:
            with answering():
                round = rounds.find(self.servers.store, order.item, order.round)
            round = round or self._in_books(order)
            if round and not require_supported(round).hold:
                self.at_once.add(name)
                return None
        except Unreadable:
            if self._may_hold(order):
                raise
            return None
        return round

    def _may_hold(self, order: Order) -> bool:
        """Return whether the order is or was a hold, in a round whose record is unreadable here."""
        names = Keys(order.item, order.round)
        with answering():
            pipe = self.servers.store.pipeline()
            pipe.hexists(names.held, order.id)
            pipe.exists(names.hold(order.id))
            pipe.xlen(names.holds)  # entered by no sweep yet: one of them may be the order's
            if any(pipe.execute()):
                return True
        with db.answering(), self.servers.sessions() as sql:
            return sql_holds.find(sql, order.id) is not None

    def _in_books(self, order: Order) -> Round | None:
        """Find a round that the store has lost; a hold in the database outlives the store."""
        with db.answering(), self.servers.sessions() as sql:
            round = begun_rounds.round(sql, order.item, order.round)
            held = sql_holds.find(sql, order.id)
        if held and not round:
            raise StoreAway(f"The store has lost round {order.round} of {order.item}.")
        return round


TURN = 0.25  # s between two sweeps of an item: units come back that late at the most

Done = TypeVar("Done")


class Sweep:
    """fulfil's sweep: it puts units that are not paid for in time on sale again.

    One thread for each item uses it. Several may sweep at once: a hold comes back once.
    """

    def __init__(self, holds: Holds, pairing: Pairing) -> None:
        self.pairing = pairing
        self.holds = holds
        self.backoff = StreamBackoff()

    def run(self, item: str, stop: threading.Event) -> None:
        while not stop.wait(TURN):
            if not any(map(self.pairing.is_wrong, ITEMS)):
                self.sweep([item])

    def sweep(self, items: Iterable[str] = ITEMS) -> int:
        """Put back the due holds of these items, and return how many came back.

        An item that fails is logged, and retried after a pause of its own.
        """
        back, ledgers = 0, self.holds.ledgers
        for item in items:
            for place, ledger in (("store", ledgers.store), ("database", ledgers.database)):
                search = f"The search for holds of {item} in the {place}"
                for number in self._try(search, ledger.rounds_with_holds, item) or ():
                    name = f"The sweep of round {number} of {item}"
                    back += self._try(name, self._sweep, item, number) or 0
        return back

    def _try(self, name: str, deed: Callable[..., Done], *words: object) -> Done | None:
        if self.backoff.waits(name):
            return None
        try:
            done = deed(*words)
        except Exception as error:  # noqa: BLE001  logged; the other rounds' units come back
            self.backoff.back_off(name, error)
            return None
        self.backoff.answered(name)
        return done

    def _sweep(self, item: str, number: int) -> int:
        round = self.holds.find(item, number)
        if round is None:
            return 0
        back, batch = 0, self.holds.ledgers.of(round).batch
        while some := self.holds.sweep(round, batch):
            back += some
        return back
