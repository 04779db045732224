"""Detect a store that has lost what this worker has seen in it.

A store that restarts may have lost its last writes, or everything. Of what it has lost, the books
know only what was booked; the rest is known only to the clients that got the store's answer. A
worker got the answers to its own sales, payments and ends of holds. So whenever it opens a
connection, it asks the store for the newest of them: between two connections the server behind them
may have changed, on an open one it cannot. In normal service that costs nothing.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from typing import NamedTuple

import redis
from redis.exceptions import AskError, TryAgainError

from app.domain import Hold, Lack, Loss, Order, Round, ShopError, Stands
from app.service.holds import Holds
from app.service.rounds import Rounds
from app.store import keys, loss_marks
from app.store.clients.redis import Metered, answering
from app.store.keys import Keys
from app.store.servers import Servers

# s for which a new connection is asked for a sale: its key lives for a day after it was booked.
REMEMBERED = 3600.0

log = logging.getLogger(__name__)


class Witnessed(NamedTuple):
    """A sale or a hold that this worker has seen; `ended` says how a hold has ended."""

    at: float  # by time.monotonic()
    order: Order
    ended: Stands | None = None

    @property
    def name(self) -> str:
        """The key under which the store keeps it."""
        names = Keys(self.order.item, self.order.round)
        return names.hold(self.order.id) if self.ended else names.key(self.order.key)

    @property
    def field(self) -> str:
        """The field under which it is stored with a mark."""
        return keys.ended(self.order.id, self.ended) if self.ended else self.order.id

    def known(self, said: bytes | None) -> bool:
        """Return whether the store has it, given the value of its key."""
        return said is not None and said.startswith((self.ended or "").encode())


class LossDetector:
    """One worker's memory of rounds and sales. Used by all its threads."""

    def __init__(self, servers: Servers, rounds: Rounds, holds: Holds) -> None:
        self.rounds = rounds
        self.store = servers.own_store()  # its connections do not call `meet`
        # Each thread has one sale in flight, so the log's newest sale is among so many.
        self.most = servers.settings.shop_threads
        self.seen: dict[str, int] = {}  # item -> number of its newest round
        self.told: dict[str, deque[Witnessed]] = {}
        self.unconfirmed: set[tuple[str, int]] = set()  # rounds that have sold in the database
        servers.met.append(self.meet)
        holds.ended.append(self.ended)

    def newest(self, item: str) -> Round | None:
        """Return the newest round; None, too, when a newer one was seen before: that is a loss.

        It happens when a store is emptied while connections stay open.
        """
        highest = self.seen.get(item, 0)  # read first: others may see newer ones meanwhile
        newest = self.rounds.newest(item)
        number = newest.number if newest else 0
        if number >= highest:
            self.seen[item] = max(number, self.seen.get(item, 0))
            return newest
        self._lacking(_gone_back(item, highest, number))
        return None

    def sold(self, round: Round, order: Order) -> None:
        """Remember a sale whose buyer is about to get the answer.

        A sale in the database is not in the store: its round is only noted, to be confirmed later.
        """
        self._note(round, Witnessed(time.monotonic(), order))

    def ended(self, round: Round, hold: Hold) -> None:
        """Remember how a hold has ended; its buyer is about to get the answer."""
        self._note(round, Witnessed(time.monotonic(), hold.order, hold.stands))

    def _note(self, round: Round, sale: Witnessed) -> None:
        item = sale.order.item
        if not self.rounds.ledgers.of(round).in_store:
            self.unconfirmed.add((item, round.number))
        else:
            witnessed = self.told.get(item) or self.told.setdefault(item, deque(maxlen=self.most))
            # A repeated press of one button must not displace the newest sales.
            if not sale.ended or all(each.field != sale.field for each in tuple(witnessed)):
                witnessed.append(sale)

    def confirm(self) -> None:
        """Write into the store what was sold in the database. Raises StoreAway, DatabaseAway."""
        for round in list(self.unconfirmed):
            self.unconfirmed.discard(round)  # first: more may be sold meanwhile
            try:
                self.rounds.consistency.confirm(*round)
            except ShopError:
                self.unconfirmed.add(round)
                raise

    def meet(self, connection: Metered) -> None:
        """Ask a new connection's server for the newest sales. Raises redis.ConnectionError."""
        since = time.monotonic() - REMEMBERED
        for item, witnessed in list(self.told.items()):
            fresh = [each for each in tuple(witnessed) if each.at > since]
            lack = self._lack(connection, item, fresh) if fresh else None
            if lack and self._lacking(lack):
                raise redis.ConnectionError(lack.what)

    def _lack(self, connection: Metered, item: str, witnessed: list[Witnessed]) -> Lack | None:
        """Return what the connection's server has lost: the newest round, or the newest sale."""
        highest = self.seen.get(item, 0)
        connection.send_command("MGET", keys.newest(item), *(each.name for each in witnessed))
        try:
            number, *replies = connection.read_response()
        except redis.ResponseError as error:
            if _elsewhere(error):
                return None
            raise
        if int(number or 0) < highest:
            return _gone_back(item, highest, int(number or 0))
        newest_first = reversed(list(zip(witnessed, replies, strict=True)))
        lost = next((each for each, reply in newest_first if not each.known(reply)), None)
        if lost is None:
            return None
        order, given_back = lost.order, lost.ended not in (None, Stands.PAID)
        loss = Loss.ENDING if given_back else Loss.SALE
        return Lack(item, loss, order.round, order.round, order=order.id)

    def _lacking(self, lack: Lack) -> bool:
        """Mark the loss for all workers; False: it is accepted.

        The mark keeps the witnessed sales.
        """
        since = time.monotonic() - REMEMBERED
        witnessed = [each for each in tuple(self.told.get(lack.item, ())) if each.at > since]
        with answering():
            orders = {each.field: each.order for each in witnessed}
            is_marked = loss_marks.mark(self.store, lack, orders)
        if is_marked:
            log.error("%s", lack.sentence)
        self.seen.pop(lack.item, None)
        self.told.pop(lack.item, None)
        return is_marked


def _gone_back(item: str, seen: int, number: int) -> Lack:
    """Return the loss: the store's newest round is `number` (0: none), we have seen `seen`."""
    return Lack(item, Loss.OLDER if number else Loss.EMPTIED, seen, number)


def _elsewhere(error: redis.ResponseError) -> bool:
    """Return whether a cluster's node says that another node, or none, has the item.

    A node that has just come back says that the cluster is down, but it may have the item: False.
    """
    return isinstance(error, AskError | TryAgainError) or "not served" in str(error)
