"""buy(): sell through the running round's mode, and answer."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from dataclasses import replace

from app.domain import (
    ITEMS,
    CannotSell,
    ForTheClass,
    Invalid,
    KeyReused,
    Lacking,
    NotOnSale,
    NotOpen,
    Order,
    Outcome,
    Round,
    RoundLeft,
    Sale,
    StoreAway,
    UnknownRound,
    Unreadable,
    in_doubt,
)
from app.domain.ids import draw_id
from app.service.answer import Answer
from app.service.earlier import Earlier
from app.service.fitness import unfit
from app.service.holds import Holds
from app.service.metrics.meter import Meter
from app.service.refusals import nameless, no_item, not_running
from app.service.request import current as request
from app.service.rounds import Rounds, in_database
from app.service.selling import Selling
from app.service.tally import Tally
from app.service.tickets import holder
from app.service.witness import Witness
from app.store.redis import Wire, answering, metered
from app.store.servers import Servers
from app.text import Text

MOST_UNITS = 10  # an order's; a round may allow fewer
SHORT = (Outcome.SOLD_OUT, Outcome.LIMIT)  # a hold that comes back may help
UNDECIDED = (Outcome.BUSY, Outcome.ROUND_OVER)  # the mode may not have seen what the key has bought
SWEPT = 10  # holds that a buyer who is sold out looks after, of those that are due
LONGEST_KEY = 128  # characters; the column's length

log = logging.getLogger(__name__)


class Purchase:
    """The shop's one deed. Knows each item's round without asking for every purchase.

    A worker learns of a switch in two ways: its mode finds the round's stock gone, or the beat
    (see tally) sees a newer round. Either way the round is looked up anew.
    """

    def __init__(self, servers: Servers, rounds: Rounds, holds: Holds) -> None:
        self.servers = servers
        self.store = servers.store
        self.rounds = rounds
        self.pairing = rounds.trust.pairing
        self.holds = holds
        self.earlier = Earlier(servers, rounds)
        self.selling: dict[str, Selling] = {}
        self.lock = threading.Lock()
        self.witness = Witness(servers, rounds, holds)
        self.tally = Tally(self.store, self.refresh, Meter(servers.settings.metrics))

    def buy(self, item: str, quantity: int, key: str | None = None, buyer: str = "") -> Answer:
        """Sell `quantity` units of `item` to `buyer`, all or nothing.

        The same `key` gives the same order for at least a day. Raises UnknownItem, Invalid,
        NotOnSale, NotOpen, ForTheClass, CannotSell, KeyReused, HoldOver, Unreadable (the key has
        bought an order that cannot be read), Away (the sale may have happened: ask again with its
        key).
        """
        self._check(item, quantity, key)
        id = draw_id()
        with in_doubt(key=key or id):
            answer = self._answer(item, quantity, key, buyer, id)
            made = answer.sale.order
            if made and made.id != id and (made.quantity, made.buyer) != (quantity, buyer):
                used = Text("This idempotency key was already used with a different request.")
                raise KeyReused(used)
            return self.holds.answered(self._of_its_round(answer))

    def _of_its_round(self, answer: Answer) -> Answer:
        """With the round in which it was sold: its key may have bought in an earlier one."""
        made = answer.sale.order
        if made and made.round != answer.round.number:
            with suppress(UnknownRound, Lacking, Unreadable):
                return replace(answer, round=self.rounds.find(made.item, made.round))
        return answer

    def _answer(self, item: str, quantity: int, key: str | None, buyer: str, id: str) -> Answer:
        try:
            return self._try(item, quantity, key or id, buyer, id)
        except (NotOnSale, Invalid, Unreadable):
            # The round has ended since: what was sold under this key in it is still sold.
            earlier = self.earlier.anywhere(item, key) if key else None
            if earlier is None:
                raise
            return earlier

    def running(self, item: str) -> Round:
        """The item's running round as this worker knows it, at most a beat old (see tally).

        The worker is then ready to sell in it. Raises NotOnSale, StoreAway.
        """
        return self._find(item).round

    def _try(self, item: str, quantity: int, key: str, buyer: str, id: str) -> Answer:
        """Sell in the running round. Raises NotOnSale, Invalid, StoreAway, DatabaseAway."""
        # A switch between the look-up and the sale costs one more try, also after a BUSY of
        # a round that had ended meanwhile; a purchase that meets two in a row is told BUSY.
        for _ in range(2):
            selling = self._find(item)
            if selling.round.tickets and not holder(selling.round, key):
                raise ForTheClass(Text("These are for the class only, one for each phone."))
            if quantity > selling.round.limit:
                most = Text("One order takes %(limit)s at most.", limit=selling.round.limit)
                raise Invalid({"quantity": most})
            if selling.round.per_buyer and not buyer:
                raise nameless(selling.round)
            # The store knows all keys, also those that have bought in the database (see Rounds);
            # the database may not know yet what fulfil has not moved.
            wire = Wire()
            if in_database(selling.round.mode) and key != id:
                earlier = self.earlier.in_store(item, key, wire)
                if earlier:
                    return earlier
            now, price = self.servers.clock.now(ask=False), ITEMS[item].price
            if selling.round.delay and now < selling.round.opens:  # our clock may lag a little
                raise NotOpen(selling.round.opens - now)
            order = Order(
                id, item, selling.round.number, quantity, price, buyer, key, now, request.get()
            )
            try:
                answer = self._sell(selling, order, wire)
            except RoundLeft:
                answer = Answer(Sale(Outcome.ROUND_OVER), selling.round, Wire())
            over = selling.clock.over.is_set() and answer.sale.outcome is Outcome.BUSY
            if answer.sale.outcome is not Outcome.ROUND_OVER and not over:
                return answer
            self._forget(selling)
        return replace(answer, sale=Sale(Outcome.BUSY))

    def _sell(self, selling: Selling, order: Order, wire: Wire) -> Answer:
        with answering(), self.tally.under_way(selling.keys) as ended:
            sale = self._take(selling, order, wire)
            if sale.outcome in SHORT and self._came_back(selling.round):
                sale = self._take(selling, order, wire)
            ended(sale)
        if sale.order is not None and sale.order.id == order.id:
            self.witness.sold(selling.round, order)
        if sale.lock_lost:
            log.warning("order %s: the lock was not mine any more at its release", order.id)
        return Answer(sale, selling.round, wire)

    def _take(self, selling: Selling, order: Order, wire: Wire) -> Sale:
        with metered(wire):
            repeat = order.key != order.id  # perhaps: a client sent the key
            try:
                sale = selling.mode.sell(order)
            except RoundLeft:  # perhaps after the sale: at a release that did not come through
                sale, repeat = Sale(Outcome.ROUND_OVER), True
            if repeat and sale.outcome in UNDECIDED:
                sold = self.earlier.order_anywhere(order.item, order.key)
                sale = replace(sale, outcome=Outcome.SOLD, order=sold) if sold else sale
            if sale.order is not None and not in_database(selling.round.mode):
                key = selling.keys.key(sale.order.key)
                self.servers.copied(order.item, key)
        # (A key's earlier order is of its own round, which may have held nothing.)
        if sale.order and sale.order.round == order.round and selling.round.hold:
            sale = replace(sale, outcome=Outcome.HELD)
        return sale

    def _came_back(self, round: Round) -> bool:
        """Has anything that was held too long come back, now that somebody looks?"""
        return bool(round.hold) and self.holds.sweep(round, SWEPT) > 0

    def _check(self, item: str, quantity: int, key: str | None) -> None:
        if item not in ITEMS:
            raise no_item(item)
        errors: dict[str, str] = {}
        if not 1 <= quantity <= MOST_UNITS:
            errors["quantity"] = Text("Quantity must be from 1 to %(most)s.", most=MOST_UNITS)
        if key is not None and not (0 < len(key) <= LONGEST_KEY and key.isprintable()):
            errors["key"] = Text(
                "An idempotency key has 1 to %(most)s characters, and no control characters.",
                most=LONGEST_KEY,
            )
        if errors:
            raise Invalid(errors)

    def _find(self, item: str) -> Selling:
        """The item's running round. Raises NotOnSale, of which CannotSell is one, Unreadable."""
        known = self.selling.get(item)
        if known:
            return known
        # No lock while asking: with the store away each thread's 503 would wait for the one before.
        round = self.witness.newest(item)
        if round is None or not round.running or self.pairing.is_wrong(item):
            raise not_running(item)
        selling = Selling.of(self._fit(round), self.servers)
        with answering():
            self.tally.enter(selling.keys, round.mode)
        with self.lock:
            return self.selling.setdefault(item, selling)

    def _fit(self, round: Round) -> Round:
        """Return the round, as this host sells in it. Raises CannotSell, NotOnSale, StoreAway."""
        if why := unfit(self.servers, round):
            raise CannotSell(why)
        try:
            listed = self.rounds.with_masters(round)
        except Invalid as error:
            raise CannotSell(str(error)) from error
        if listed is None or not listed.running:
            raise not_running(round.item)
        return listed if listed is round else self._fit(listed)

    def _forget(self, stale: Selling) -> None:
        with self.lock:
            if self.selling.get(stale.round.item) is stale:
                del self.selling[stale.round.item]
        self.tally.leave(stale.keys)
        stale.clock.over.set()

    def refresh(self) -> None:
        """Forget every round that is not the newest one, has ended, or cannot be sold in here.

        Raises StoreAway in the end, when some could not be looked up: on a cluster, one item's
        node may be away and the others' not.
        """
        self.servers.clock.now()  # the beats look at it, so that no purchase need
        away = None
        for known in list(self.selling.values()):
            try:
                newest = self.witness.newest(known.round.item)
            except StoreAway as error:
                away = error
                continue
            except Unreadable:
                newest = None  # a newer version has taken the item over
            if newest != known.round or self.pairing.is_wrong(known.round.item):
                self._forget(known)
            elif why := unfit(self.servers, newest):
                log.error("%s", why)
                self._forget(known)
        if away:
            raise away
