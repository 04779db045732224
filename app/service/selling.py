"""The rounds in which a worker sells: found once, and left when newer ones begin."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass

from app.domain import (
    CannotSell,
    Clock,
    ForTheClass,
    Invalid,
    NotOpen,
    Order,
    Round,
    RoundLeft,
    StoreAway,
    Unreadable,
)
from app.modes import Mode, Way
from app.service.catalogue import unfit
from app.service.holds import Holds
from app.service.ledgers import Ledger
from app.service.loss_detector import LossDetector
from app.service.metrics.meter import Meter
from app.service.refusals import nameless, not_running
from app.service.rounds import Rounds
from app.service.worker_status import StatusReporter
from app.store.clients.redis import answering
from app.store.keys import Keys
from app.store.servers import Servers
from app.text import Text

# Prefix of tickets: the idempotency keys of a round that sells one order to each class member. A
# key buys once, so a ticket does, in however many tabs it is used. The shop signs a ticket for its
# buyer; no other key may begin like one (app/shop/form_keys.py).
MARK = "class-"

log = logging.getLogger(__name__)


def ticket(round: Round, buyer: str) -> str:
    """Return the idempotency key of a buyer in this round."""
    return f"{MARK}{round.number}-{buyer}"


def holder(round: Round, key: str) -> str:
    """Return the buyer for whom a key is a ticket of this round; "": it is not one."""
    mark = ticket(round, "")
    return key.removeprefix(mark) if key.startswith(mark) else ""


class RoundClock(Clock):
    """A clock that ends a buyer's waiting with its round, before a lock and while it thinks.

    It may end after the sale, at a release that failed: then look for the sale's key.
    """

    def __init__(self) -> None:
        self.over = threading.Event()

    def sleep(self, seconds: float) -> None:
        """Sleep for that long. Raises RoundLeft when the round ends before."""
        if self.over.wait(seconds):
            raise RoundLeft


@dataclass(frozen=True, slots=True)
class Selling:
    """A running round as one worker knows it, with what the worker needs to sell in it."""

    round: Round
    mode: Mode
    ledger: Ledger
    clock: RoundClock
    keys: Keys

    def check(self, order: Order) -> None:
        """Raise ForTheClass, Invalid or NotOpen when the round is not for this order."""
        round = self.round
        if round.tickets and not holder(round, order.key):
            raise ForTheClass(Text("These are for the class only, one for each phone."))
        if order.quantity > round.limit:
            refusal = Text("One order takes %(limit)s at most.", limit=round.limit)
            raise Invalid({"quantity": refusal})
        if round.per_buyer and not order.buyer:
            raise nameless(round)
        if round.delay and order.at < round.opens:  # our clock may lag a little
            raise NotOpen(round.opens - order.at)


class RunningRounds:
    """Keeps each item's running round, so that no purchase has to ask for it.

    A worker notices a switch in two ways: its mode finds the round's stock gone, or the beat (see
    worker_status) sees a newer round. Either way it looks the round up again.
    """

    def __init__(self, servers: Servers, rounds: Rounds, holds: Holds) -> None:
        self.servers = servers
        self.rounds = rounds
        self.pairing = rounds.consistency.pairing
        self.selling: dict[str, Selling] = {}  # by item
        self.lock = threading.Lock()
        self.detector = LossDetector(servers, rounds, holds)
        self.reporter = StatusReporter(servers.store, self.refresh, Meter(servers.settings.metrics))

    def find(self, item: str) -> Selling:
        """Return the item's running round.

        Raises NotOnSale, of which CannotSell is one, Unreadable.
        """
        known = self.selling.get(item)
        if known:
            return known
        # No lock while asking: with the store away each thread's 503 would wait for the one before.
        newest = self.detector.newest(item)
        if newest is None or not newest.running or self.pairing.is_wrong(item):
            raise not_running(item)
        round, clock = self._fit(newest), RoundClock()
        mode = Way.of(round.mode).mode(self.servers, clock, round)
        keys = Keys(item, round.number)
        selling = Selling(round, mode, self.rounds.ledgers.of(round), clock, keys)
        with answering():
            self.reporter.enter(keys, round.mode)
        with self.lock:
            return self.selling.setdefault(item, selling)

    def _fit(self, round: Round) -> Round:
        """Return the round, with what this host needs to sell in it.

        Raises CannotSell, NotOnSale, StoreAway.
        """
        if why := unfit(self.servers, round):
            raise CannotSell(why)
        try:
            listed = self.rounds.with_masters(round)
        except Invalid as error:
            raise CannotSell(str(error)) from error
        if listed is None or not listed.running:
            raise not_running(round.item)
        return listed if listed is round else self._fit(listed)

    def forget(self, stale: Selling) -> None:
        """Stop selling in the round; buyers that wait or think in it wake up."""
        with self.lock:
            if self.selling.get(stale.round.item) is stale:
                del self.selling[stale.round.item]
        self.reporter.leave(stale.keys)
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
                newest = self.detector.newest(known.round.item)
            except StoreAway as error:
                away = error
                continue
            except Unreadable:
                newest = None  # a newer version has taken the item over
            if newest != known.round or self.pairing.is_wrong(known.round.item):
                self.forget(known)
            elif why := unfit(self.servers, newest):
                log.error("%s", why)
                self.forget(known)
        if away:
            raise away
