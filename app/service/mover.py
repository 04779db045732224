"""Move sales that were read: book them, and only then take them out of the store."""

from __future__ import annotations

import logging
import threading

import redis
from sqlalchemy.orm import Session, sessionmaker

from app.domain import DatabaseAway, Order, Unreadable
from app.modes import MODES
from app.service.aside import LONGEST_PAUSE, SHORTEST_PAUSE, Aside
from app.service.booking import Refusal, book
from app.store import dead_letters, rounds, sales
from app.store.keys import Keys
from app.store.rounds import GROUP

log = logging.getLogger(__name__)

Entries = list[tuple[bytes, dict[bytes, bytes]]]  # as XREADGROUP gives them: (id, fields)
Batch = tuple[Keys, Entries]


class Mover:
    """Used by several threads, one for each item."""

    def __init__(self, store: redis.Redis, sessions: sessionmaker[Session], aside: Aside) -> None:
        self.store = store
        self.sessions = sessions
        self.aside = aside

    def run(self, batches: list[Batch], stop: threading.Event) -> None:
        """Move an item's batches, each as often as it takes, or until `stop`.

        What the store refuses concerns one stream, which stands aside: its sales are claimed again.
        """
        for names, entries in batches:
            pause = SHORTEST_PAUSE
            while True:
                try:
                    self.move(names, entries)
                    break
                except redis.ResponseError as error:
                    self.aside.put(names.sales, error)
                    break
                except (redis.RedisError, DatabaseAway) as error:
                    log.warning("%s: %s Trying again in %.1f s.", names.item, error, pause)
                if stop.wait(pause):
                    return
                pause = min(LONGEST_PAUSE, pause * 2)

    def move(self, names: Keys, entries: Entries) -> None:
        """Commit first, then acknowledge, delete, and let the idempotency keys run out.

        What cannot be read, or is refused by the database for good, is a dead letter. When its key
        had bought before, its units go back into stock where that loses nobody's write, and the key
        leads to the first order again.
        """
        mode = rounds.mode(self.store, names)
        sold: dict[bytes, Order] = {}
        refused: dict[bytes, Refusal] = {}
        for id, fields in entries:
            try:
                sold[id] = sales.read(names, fields)
            except Unreadable as error:
                refused[id] = Refusal(str(error))
        refused |= book(self.sessions, sold, mode)
        booked = [id for id in sold if id not in refused]
        if booked:
            pipe = self.store.pipeline()
            pipe.xack(names.sales, GROUP, *booked)
            pipe.xdel(names.sales, *booked)
            sales.forget(pipe, names, [sold[id] for id in booked])
            pipe.execute()
        if not refused:
            return
        log.error("%s: %d sales are dead letters now.", names.sales, len(refused))
        sales.remember(self.store, [each.bought for each in refused.values() if each.bought])
        puts_back = bool(mode) and MODES[mode.partition(":")[0]].put_back
        for id, fields in entries:
            if why := refused.get(id):
                units = sold[id].quantity if why.bought and puts_back else 0
                dead_letters.add(self.store, names, id, fields, why.reason, units)
