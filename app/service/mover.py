"""Move sales that were read: book them, and only then take them out of the store."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import redis
from sqlalchemy.orm import Session, sessionmaker

from app.domain import Away, Order, Unreadable, WrongPair
from app.modes import Way
from app.service.aside import LONGEST_PAUSE, SHORTEST_PAUSE, Aside
from app.service.booking import Refusal, book
from app.service.pairing import Pairing
from app.store import dead_letters, keys, rounds, sales
from app.store.keys import Keys

log = logging.getLogger(__name__)

Entries = list[tuple[bytes, dict[bytes, bytes]]]  # as XREADGROUP gives them: (id, fields)
Batch = tuple[Keys, Entries]


class Mover:
    """Used by several threads, one for each item."""

    def __init__(
        self,
        store: redis.Redis,
        sessions: sessionmaker[Session],
        aside: Aside,
        copied: Callable[[str], bool],
        pairing: Pairing,
    ) -> None:
        """`copied` waits until an item's sales are where DURABILITY wants them: Servers.copied."""
        self.store = store
        self.sessions = sessions
        self.aside = aside
        self.copied = copied
        self.pairing = pairing

    def run(self, batches: list[Batch], stop: threading.Event) -> None:
        """Move an item's batches, each as often as it takes, or until `stop`.

        What the store refuses concerns one stream, and so does a bug. The stream stands aside: its
        sales are claimed again.
        """
        for names, entries in batches:
            pause = SHORTEST_PAUSE
            while True:
                try:
                    self.move(names, entries)
                    break
                except WrongPair as error:
                    self.aside.put(keys.streams(names.item), error)
                    return
                except (redis.ConnectionError, redis.TimeoutError, Away) as error:
                    log.warning("%s: %s Trying again in %.1f s.", names.item, error, pause)
                except Exception as error:  # noqa: BLE001  `put` logs it
                    self.aside.put(names.sales, error)
                    break
                if stop.wait(pause):
                    return
                pause = min(LONGEST_PAUSE, pause * 2)

    def move(self, names: Keys, entries: Entries) -> None:
        """Commit first, then acknowledge, delete, and let the idempotency keys run out.

        What cannot be read, or is refused by the database for good, is a dead letter. When its key
        had bought before, its units go back into stock where that loses nobody's write, and the key
        leads to the first order again.
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
        if self.copied(names.item):  # or books would have what a failover takes from the store
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
        """Without what was read from a server that is the store no more: nobody was told of it."""
        pipe = self.store.pipeline(transaction=False)
        for id in sold:
            pipe.xrange(names.sales, id, id)
        there = {id for id, found in zip(sold, pipe.execute(), strict=True) if found}
        if gone := len(sold) - len(there):
            log.warning("%s: %d sales are gone with the server that had them", names.sales, gone)
        return {id: order for id, order in sold.items() if id in there}


def _which(order: Order) -> str:
    """As the shop's log and its customer know it."""
    return f"order {order.id} of request {order.request or '(unknown)'}"
