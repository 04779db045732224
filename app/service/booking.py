"""Book sales: write their orders into the database, except those that it refuses for good.

`Mover` books the batches that fulfil has read, and makes dead letters of the refused sales.

The receipt of an order's idempotency key is written with the order. A key that has bought the item
before, in any round and mode, is refused here forever, even if the store has forgotten it. Exhibits
write no receipts: an order that they sell twice is kept, so that it can be counted.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import redis
from sqlalchemy.orm import Session, sessionmaker

from app.domain import Away, Order, Unreadable, WrongPair
from app.modes import Way
from app.service.pairing import Pairing
from app.service.stream_backoff import LONGEST_PAUSE, SHORTEST_PAUSE, StreamBackoff
from app.store import dead_letters, keys, rounds, sales
from app.store.keys import Keys
from app.store.sql import db, orders, stock

log = logging.getLogger(__name__)

Entries = list[tuple[bytes, dict[bytes, bytes]]]  # as XREADGROUP gives them: (id, fields)
Batch = tuple[Keys, Entries]


@dataclass(frozen=True)
class Refusal:
    """Why a sale is not booked, and the order that its key had bought before, if any."""

    reason: str
    bought: Order | None = None


def book(
    sessions: sessionmaker[Session], sales: Mapping[bytes, Order], mode: str
) -> dict[bytes, Refusal]:
    """Commit an item's `sales` and return the refusals, under the names that the caller gave them.

    `mode` is the one that sold them, "" if it is unknown. Raises DatabaseAway when waiting may
    help; some of the sales are then committed, others not.
    """
    misfits = {name: orders.misfit(order) for name, order in sales.items()}
    fitting = [each for each in sales.items() if not misfits[each[0]]]
    refused = {name: Refusal(why) for name, why in misfits.items() if why}
    return refused | _insert(sessions, fitting, exhibit=bool(mode) and Way.of(mode).exhibit)


def _insert(
    sessions: sessionmaker[Session], sales: Sequence[tuple[bytes, Order]], exhibit: bool
) -> dict[bytes, Refusal]:
    """Insert all sales in one transaction; if some are to blame, try each half again.

    Two bad sales among 500 cost some 30 transactions.
    """
    if not sales:
        return {}
    sold = [order for _, order in sales]
    try:
        with db.taking_rows(), sessions.begin() as session:
            late = {} if exhibit else stock.hand_receipts(session, sold[0].item, sold)
            orders.insert_missing(session, [order for order in sold if order.id not in late])
            bought = {id: orders.find(session, whose) for id, whose in late.items()}
    except db.RowsRefused as error:
        if len(sales) == 1:
            return {sales[0][0]: Refusal(f"The database refuses it: {error}")}
        half = len(sales) // 2
        return _insert(sessions, sales[:half], exhibit) | _insert(sessions, sales[half:], exhibit)
    return {
        name: Refusal(f"Its key has bought order {late[order.id]} before.", bought[order.id])
        for name, order in sales
        if order.id in late
    }


class Mover:
    """Moves batches of sales into the database; used by several threads, one for each item."""

    def __init__(
        self,
        store: redis.Redis,
        sessions: sessionmaker[Session],
        backoff: StreamBackoff,
        copied: Callable[[str], bool],
        pairing: Pairing,
    ) -> None:
        """`copied` waits until an item's sales are where DURABILITY wants them: Servers.copied."""
        self.store = store
        self.sessions = sessions
        self.backoff = backoff
        self.copied = copied
        self.pairing = pairing

    def run(self, batches: list[Batch], stop: threading.Event) -> None:
        """Move an item's batches, each as often as it takes, or until `stop`.

        An error of the store concerns one stream, and so does a bug. That stream backs off, and its
        sales are claimed again.
        """
        for names, entries in batches:
            pause = SHORTEST_PAUSE
            while True:
                try:
                    self.move(names, entries)
                    break
                except WrongPair as error:
                    self.backoff.back_off(keys.streams(names.item), error)
                    return
                except (redis.ConnectionError, redis.TimeoutError, Away) as error:
                    log.warning("%s: %s Trying again in %.1f s.", names.item, error, pause)
                except Exception as error:  # noqa: BLE001  `back_off` logs it
                    self.backoff.back_off(names.sales, error)
                    break
                if stop.wait(pause):
                    return
                pause = min(LONGEST_PAUSE, pause * 2)

    def move(self, names: Keys, entries: Entries) -> None:
        """Commit first, then acknowledge, delete, and let the idempotency keys run out.

        An entry that cannot be read, or that the database refuses for good, becomes a dead letter.
        If its key had bought before, its units go back into stock, provided that the mode's writes
        do not overwrite each other, and the key leads to the first order again.
        """
        self.pairing.require(names.item)
        mode = rounds.mode(self.store, names)
        sold: dict[bytes, Order] = {}
        refused: dict[bytes, Refusal] = {}
        for id, fields in entries:
            try:
                sold[id] = sales.read(names, fields)
            except Unreadable as error:
                refused[id] = Refusal(str(error))
        if self.copied(names.item):  # else a failover could take booked sales from the store
            sold = self._still_there(names, sold)
        refused |= book(self.sessions, sold, mode)
        booked = {id: order for id, order in sold.items() if id not in refused}
        if booked:
            sales.let_go(self.store, names, booked)
        if not refused:
            return
        sales.remember(self.store, [each.bought for each in refused.values() if each.bought])
        puts_back = bool(mode) and Way.of(mode).mode.increments
        for id, fields in entries:
            if why := refused.get(id):
                which = _which(sold[id]) if id in sold else f"entry {id.decode()}"
                log.error("%s: %s is a dead letter now: %.300r", names.sales, which, why.reason)
                units = sold[id].quantity if why.bought and puts_back else 0
                buyer = sold[id].buyer if id in sold else ""
                dead_letters.add(self.store, names, id, fields, why.reason, units, buyer)

    def _still_there(self, names: Keys, sold: dict[bytes, Order]) -> dict[bytes, Order]:
        """Drop sales read from a server that lost its role: their buyers got no answer."""
        pipe = self.store.pipeline(transaction=False)
        for id in sold:
            pipe.xrange(names.sales, id, id)
        remaining = {id for id, entries in zip(sold, pipe.execute(), strict=True) if entries}
        if gone := len(sold) - len(remaining):
            log.warning("%s: %d sales are gone with the server that had them", names.sales, gone)
        return {id: order for id, order in sold.items() if id in remaining}


def _which(order: Order) -> str:
    """Name the order as the shop's log and its customer know it."""
    return f"order {order.id} of request {order.request or '(unknown)'}"
