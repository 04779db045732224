"""Move sales from the store's streams into the database, each exactly once.

Reads every open round's stream as one consumer of a group, inserts in batches (a row that is
there already is left alone), and only after the commit acknowledges and deletes. Killed at any
point, it or another one takes up what was read and not acknowledged. While the database is away
the sales wait in the stream.

On a cluster each item has a consumer of its own, as one XREADGROUP reads streams of one slot only:
so each can wait for sales without polling, and an item whose node is away holds up no other.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from concurrent import futures
from typing import cast

import redis
from sqlalchemy.orm import Session, sessionmaker

from app.domain import DatabaseAway, Order, Unreadable
from app.store import db, keys, orders, rounds
from app.store.keys import Keys
from app.store.rounds import GROUP

KEY_LIFE = 24 * 3600  # s for which an idempotency key is remembered after its order is confirmed
# A round's stream is looked at for a day after its end: a worker frozen in mid-sale may still
# wake up and write to it.
STREAM_LIFE = 24 * 3600 * 1000  # ms
LEFT_BEHIND = 2_000  # ms after which a sale that was read and not moved counts as left behind
TIDY = 60.0  # s between two clean-ups
WAIT = 200  # ms to wait for a new sale; also the time it takes to notice a new round
GATHER = 0.1  # s between two batches; an order is confirmed that much later
LONGEST_PAUSE = 2.0  # s between two tries while store or database is away

log = logging.getLogger(__name__)

Entries = list[tuple[bytes, dict[bytes, bytes]]]  # as XREADGROUP gives them: (id, fields)
Batch = tuple[Keys, Entries]
Answer = list[tuple[bytes, Entries]]  # XREADGROUP's: (stream, its entries)


class Fulfil:
    """All the consumers that a process needs. Several processes may run at once."""

    def __init__(self, store: redis.Redis, sessions: sessionmaker[Session], batch: int) -> None:
        """`batch` is the most sales of one stream to move at once."""
        self.consumers = [
            Consumer(store, sessions, batch, items) for items in rounds.read_together(store)
        ]

    def run(self, stop: threading.Event) -> None:
        """As a consumer's `run`. One that fails stops all, and its error is raised."""
        with futures.ThreadPoolExecutor(len(self.consumers)) as pool:
            running = [pool.submit(consumer.run, stop) for consumer in self.consumers]
            futures.wait(running, return_when=futures.FIRST_EXCEPTION)
            stop.set()
        for each in running:
            each.result()


class Consumer:
    """Moves the sales of some items."""

    def __init__(
        self, store: redis.Redis, sessions: sessionmaker[Session], batch: int, items: list[str]
    ) -> None:
        self.store = store
        self.sessions = sessions
        self.batch = batch
        self.items = items
        self.name = f"{os.uname().nodename}-{os.getpid()}-{os.urandom(3).hex()}"
        self.next_claim = 0.0
        self.next_tidy = time.monotonic() + TIDY

    def run(self, stop: threading.Event) -> None:
        """Until `stop`; and then until the streams are empty, so that nothing is left behind.

        Stopped while store or database is away, it leaves the sales where they are: safe.
        """
        pause = 0.1
        in_hand: list[Batch] = []
        while True:
            try:
                last = stop.is_set()
                in_hand = in_hand or self.read(0 if last else WAIT)
                moved = sum(len(entries) for _, entries in in_hand)
                while in_hand:
                    self.move(*in_hand[0])
                    in_hand.pop(0)
                pause = 0.1
                if last and not moved:
                    return
                # A batch costs the disk a sync, however small it is: let some gather.
                if moved < self.batch:
                    stop.wait(GATHER)
            except (redis.RedisError, DatabaseAway) as error:
                log.warning("%s Trying again in %.1f s.", error, pause)
                if stop.wait(pause):
                    return
                pause = min(LONGEST_PAUSE, pause * 2)

    def read(self, wait: int) -> list[Batch]:
        """The next sales: left behind by a dead consumer first, else new within `wait` ms."""
        open_rounds = rounds.open_streams(self.store, self.items)
        if not open_rounds:
            time.sleep(wait / 1000)
            return []
        if time.monotonic() >= self.next_tidy:
            self.next_tidy = time.monotonic() + TIDY
            self.tidy(open_rounds)
        if time.monotonic() >= self.next_claim:
            if claimed := self.claim(open_rounds):
                return claimed
            self.next_claim = time.monotonic() + LEFT_BEHIND / 1000
        by_name = {each.sales.encode(): each for each in open_rounds}
        new = self.store.xreadgroup(
            GROUP,
            self.name,
            dict.fromkeys(by_name, ">"),
            count=self.batch,
            block=wait or None,  # 0 would mean for ever
        )
        return [(by_name[name], entries) for name, entries in cast(Answer, new)]

    def claim(self, open_rounds: list[Keys]) -> list[Batch]:
        """Take over what some consumer read long ago and never acknowledged."""
        pipe = self.store.pipeline(transaction=False)
        for each in open_rounds:
            pipe.xautoclaim(each.sales, GROUP, self.name, LEFT_BEHIND, count=self.batch)
        answers = pipe.execute()
        return [
            (each, entries)
            for each, (_, entries, _) in zip(open_rounds, answers, strict=True)
            if entries
        ]

    def move(self, names: Keys, entries: Entries) -> None:
        """Commit first, then acknowledge, delete, and let the idempotency keys run out."""
        sold = [Order.decode(fields[b"sale"]) for _, fields in entries]
        with db.answering(), self.sessions.begin() as session:
            orders.insert_missing(session, sold)
        ids = [id for id, _ in entries]
        pipe = self.store.pipeline()
        pipe.xack(names.sales, GROUP, *ids)
        pipe.xdel(names.sales, *ids)
        pipe.unlink(*(names.order(order.id) for order in sold))
        for order in sold:
            if order.key == order.id:  # the client sent none, so nobody will come back with it
                pipe.unlink(names.key(order.key))
            else:
                pipe.expire(names.key(order.key), KEY_LIFE)
        pipe.execute()

    def tidy(self, open_rounds: list[Keys]) -> None:
        """Forget consumers that died empty-handed, and streams of rounds long ended."""
        now = time.time() * 1000
        for each in open_rounds:
            for consumer in self.store.xinfo_consumers(each.sales, GROUP):
                if not consumer["pending"] and consumer["idle"] > TIDY * 1000:
                    self.store.xgroup_delconsumer(each.sales, GROUP, consumer["name"])
            try:
                round = rounds.find(self.store, each.item, each.number)
            except Unreadable:  # a newer version's: its own fulfil tidies there
                continue
            old = round is None or (round.ended is not None and round.ended < now - STREAM_LIFE)
            if old and not self.store.xlen(each.sales):
                self.store.srem(keys.streams(each.item), each.number)
