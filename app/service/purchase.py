"""buy(): sell through the running round's mode, and answer."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

from app.domain import (
    ITEMS,
    Hold,
    HoldOver,
    Invalid,
    KeyReused,
    Lacking,
    NotOnSale,
    Order,
    Outcome,
    Round,
    RoundLeft,
    Sale,
    Stands,
    UnknownRound,
    Unreadable,
    in_doubt,
)
from app.domain.ids import draw_id
from app.service.holds import Holds
from app.service.refusals import require_item
from app.service.request import current as request
from app.service.rounds import Rounds
from app.service.selling import RunningRounds, Selling
from app.store.clients.redis import Wire, answering, metered
from app.store.keys import Keys
from app.store.servers import Servers
from app.text import Text

MOST_UNITS = 10  # an order's; a round may allow fewer
SHORT = (Outcome.SOLD_OUT, Outcome.LIMIT)  # a hold that comes back may help
UNDECIDED = (Outcome.BUSY, Outcome.ROUND_OVER)  # the mode may not have seen what the key has bought
SWEPT = 10  # due holds that a purchase expires when it finds no stock
LONGEST_KEY = 128  # characters; the column's length

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PurchaseAnswer:
    """A sale, the round it was tried in, its cost on the wire, and its hold, if it has one."""

    sale: Sale
    round: Round
    wire: Wire
    hold: Hold | None = None


class Purchase:
    """Purchases through the running rounds of this process."""

    def __init__(self, servers: Servers, rounds: Rounds, holds: Holds) -> None:
        self.servers = servers
        self.rounds = rounds
        self.holds = holds
        self.running_rounds = RunningRounds(servers, rounds, holds)
        self.detector = self.running_rounds.detector
        self.reporter = self.running_rounds.reporter

    def running(self, item: str) -> Round:
        """Return the item's running round as this worker knows it, at most a beat old.

        See worker_status. The worker is then ready to sell in it. Raises NotOnSale, StoreAway.
        """
        return self.running_rounds.find(item).round

    def buy(
        self, item: str, quantity: int, key: str | None = None, buyer: str = ""
    ) -> PurchaseAnswer:
        """Sell `quantity` units of `item` to `buyer`, all or nothing.

        The same `key` gives the same order for at least a day. Raises UnknownItem, Invalid,
        NotOnSale, NotOpen, ForTheClass, CannotSell, KeyReused, HoldOver; Unreadable when the key
        has bought an order that cannot be read; Away when the sale may have happened: retry with
        its key.
        """
        _check(item, quantity, key)
        id, price = draw_id(), ITEMS[item].price
        order = Order(id, item, 0, quantity, price, buyer, key or id, 0, request.get())
        with in_doubt(key=order.key):
            try:
                answer = self._sell(order)
            except (NotOnSale, Invalid, Unreadable):
                # The round has ended meanwhile: a sale that it made under this key is still a sale.
                with answering():
                    earlier = self._bought(order) if key else None
                if earlier is None:
                    raise
                sale = Sale(Outcome.SOLD, order=earlier)
                answer = PurchaseAnswer(sale, self._round_of(earlier), Wire())
            return self._answered(order, answer)

    def _sell(self, order: Order) -> PurchaseAnswer:
        """Sell in the running round. Raises NotOnSale, Invalid, StoreAway, DatabaseAway."""
        # A switch between the look-up and the sale costs one more try, also after a BUSY of
        # a round that had ended meanwhile; a purchase that meets two in a row gets BUSY.
        for _ in range(2):
            selling, wire = self.running_rounds.find(order.item), Wire()
            now = self.servers.clock.now(ask=False)
            order = replace(order, round=selling.round.number, at=now)
            selling.check(order)
            try:
                sale = self._try(selling, order, wire)
            except RoundLeft:
                sale, wire = Sale(Outcome.ROUND_OVER), Wire()
            over = selling.clock.over.is_set() and sale.outcome is Outcome.BUSY
            if sale.outcome is not Outcome.ROUND_OVER and not over:
                return PurchaseAnswer(sale, selling.round, wire)
            self.running_rounds.forget(selling)
        return PurchaseAnswer(Sale(Outcome.BUSY), selling.round, wire)

    def _try(self, selling: Selling, order: Order, wire: Wire) -> Sale:
        with answering(), self.reporter.under_way(selling.keys) as ended:
            sale = self._take(selling, order, wire)
            # Out of stock: put expired holds back, and try again if that freed any units.
            sweeps = selling.round.hold and selling.ledger.in_store
            if sweeps and sale.outcome in SHORT and self.holds.sweep(selling.round, SWEPT):
                sale = self._take(selling, order, wire)
            ended(sale)
        if sale.order is not None and sale.order.id == order.id:
            self.detector.sold(selling.round, order)
        if sale.lock_lost:
            log.warning("order %s: the lock was lost before its release", order.id)
        return sale

    def _take(self, selling: Selling, order: Order, wire: Wire) -> Sale:
        repeat = order.key != order.id  # perhaps: a client sent the key
        with metered(wire):
            if repeat and not selling.ledger.in_store and (sold := self._in_store(order)):
                return Sale(Outcome.SOLD, order=sold)
            try:
                sale = selling.mode.sell(order)
            except RoundLeft:  # perhaps after the sale: at a release that failed
                sale, repeat = Sale(Outcome.ROUND_OVER), True
            if repeat and sale.outcome in UNDECIDED and (sold := self._bought(order)):
                sale = replace(sale, outcome=Outcome.SOLD, order=sold)
            elif sale.order is not None:
                selling.ledger.copied(sale.order)
        # (A key's earlier order is of its own round, which may have held nothing.)
        if sale.order and sale.order.round == order.round and selling.round.hold:
            sale = replace(sale, outcome=Outcome.HELD)
        return sale

    def _bought(self, order: Order) -> Order | None:
        """Return the order that a key has bought, as the store or the newest ledger knows it.

        Raises redis.RedisError, StoreAway, DatabaseAway, Unreadable.
        """
        if earlier := self._in_store(order):
            return earlier
        newest = self.rounds.newest(order.item)
        if newest is None:
            return None
        return self.rounds.ledgers.of(newest).bought(order.item, order.key)

    def _in_store(self, order: Order) -> Order | None:
        """Return the order that the key has bought, as far as the store knows; else None.

        Raises redis.RedisError, Unreadable.
        """
        key = Keys(order.item, 0).key(order.key)
        record = self.servers.store.get(key)
        if record is None:
            return None
        sold = Order.decode(record)
        self.servers.copied(order.item, key)  # a failed copy may be why its buyer retries
        return sold

    def _round_of(self, sold: Order) -> Round:
        """Return the round in which an order was sold, or one without a mode if that is lost.

        Raises StoreAway, DatabaseAway; Unreadable when the order may be a hold.
        """
        try:
            return self.rounds.find(sold.item, sold.round)
        except (UnknownRound, Lacking, Unreadable):
            return self.holds.round_of(sold) or Round(sold.item, sold.round, 0, "")

    def _answered(self, order: Order, answer: PurchaseAnswer) -> PurchaseAnswer:
        """Return the answer with the round of its sale and with the state of its hold.

        The same key may have bought before, in another round. Raises KeyReused, HoldOver,
        StoreAway, DatabaseAway.
        """
        sale, round, sold = answer.sale, answer.round, answer.sale.order
        if sold is None:
            return answer
        if sold.id != order.id and (sold.quantity, sold.buyer) != (order.quantity, order.buyer):
            used = Text("This idempotency key was already used with a different request.")
            raise KeyReused(used)
        if sold.round != round.number:
            round = self._round_of(sold)
        hold = None
        if round.hold:
            with metered(answer.wire):
                hold = self.holds.look(sold, round)
            if hold and hold.over:
                raise HoldOver(hold)
            held = hold is not None and hold.stands is Stands.HELD
            sale = replace(sale, outcome=Outcome.HELD if held else Outcome.SOLD)
        return PurchaseAnswer(sale, round, answer.wire, hold)


def _check(item: str, quantity: int, key: str | None) -> None:
    require_item(item)
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
