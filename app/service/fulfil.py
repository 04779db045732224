"""Move sales from the store's streams into the database, each exactly once.

Reads every open round's stream as one consumer of a group, and inserts in batches; a row that
exists already is left alone. It acknowledges and deletes entries only after the commit. If it is
killed at any point, it or another consumer takes up the entries that were read and not
acknowledged. While the database is away the sales wait in the stream. A sale that can never be
booked goes to the item's dead letters, with the reason, and the rest of its batch is booked.

No item waits for another: all are read together, and each has a thread that books its sales. While
that thread is busy, or a stream of the item fails, the other items are read without it.

On a cluster each item has a consumer of its own, as one XREADGROUP reads streams of one slot only.
So each can wait for sales without polling, and an item whose node is away holds up no other.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from concurrent import futures
from typing import Any, cast

import redis
from sqlalchemy.orm import Session, sessionmaker

from app.domain import Unreadable
from app.service.booking import Batch, Entries, Mover
from app.service.pairing import Pairing
from app.service.stream_backoff import StreamBackoff
from app.store import keys, rounds
from app.store.clients import clock
from app.store.keys import Keys
from app.store.round_sales import forget_counters
from app.store.rounds import GROUP

log = logging.getLogger(__name__)


# A round's stream is looked at for a day after its end: a worker frozen in mid-sale may still
# wake up and write to it.
STREAM_LIFE = 24 * 3600 * 1000  # ms
LEFT_BEHIND = 2_000  # ms after which a sale that was read and not moved counts as left behind
TIDY = 60.0  # s between two clean-ups
WAIT = 200  # ms to wait for a new sale; also the time it takes to notice a new round
GATHER = 0.1  # s between two batches; an order is confirmed that much later


Answer = list[tuple[bytes, Entries]]  # XREADGROUP's: (stream, its entries)


class Fulfil:
    """All the consumers that a process needs. Several processes may run at once."""

    def __init__(
        self,
        store: redis.Redis,
        sessions: sessionmaker[Session],
        batch: int,
        pairing: Pairing,
        copied: Callable[[str], bool] = lambda item: False,
    ) -> None:
        """`batch` is the most sales of one stream to move at once; `copied` see Servers.copied."""
        self.consumers = [
            Consumer(Mover(store, sessions, StreamBackoff(), copied, pairing), batch, items)
            for items in rounds.read_together(store)
        ]

    def run(self, stop: threading.Event) -> None:
        """Run all consumers. When one ends with an error, all stop."""
        with futures.ThreadPoolExecutor(len(self.consumers)) as pool:
            running = [pool.submit(consumer.run, stop) for consumer in self.consumers]
            futures.wait(running, return_when=futures.FIRST_EXCEPTION)
            stop.set()
        for each in running:
            each.result()


class Consumer:
    """Moves the sales of some items."""

    def __init__(self, mover: Mover, batch: int, items: list[str]) -> None:
        self.mover = mover
        self.store = mover.store
        self.backoff = mover.backoff
        self.batch = batch
        self.items = items
        self.name = f"{os.uname().nodename}-{os.getpid()}-{os.urandom(3).hex()}"
        self.beat: Callable[[], None] = lambda: None  # called with every turn, to show that we live
        self.busy: dict[str, futures.Future[None]] = {}  # item -> its thread's work
        self.next_claim = 0.0
        self.next_tidy = time.monotonic() + TIDY

    def run(self, stop: threading.Event) -> None:
        """Move sales until `stop`, and then until the streams are empty: no sale is left behind.

        Stopped while store or database is away, it leaves the sales where they are: safe. Only an
        exception that ends the process ends it.
        """
        with futures.ThreadPoolExecutor(len(self.items)) as pool:
            try:
                self._run(stop, pool)
            except BaseException:
                stop.set()  # else threads that wait for the database would continue
                raise

    def _run(self, stop: threading.Event, pool: futures.Executor) -> None:
        while True:
            self.beat()
            try:
                if self._is_done(stop, pool):
                    return
                self.backoff.answered(self.name)
            except Exception as error:  # noqa: BLE001  `back_off` logs it
                if stop.wait(self.backoff.back_off(self.name, error)):
                    return

    def _is_done(self, stop: threading.Event, pool: futures.Executor) -> bool:
        """Take one turn. Return True if `stop` is set and the streams are empty."""
        last = stop.is_set()
        self._collect()
        batches = self.read(0 if last or self.busy else WAIT)
        if last and not batches and not self.busy:
            return True
        for item in {names.item for names, _ in batches}:
            its = [batch for batch in batches if batch[0].item == item]
            self.busy[item] = pool.submit(self.mover.run, its, stop)
        futures.wait(self.busy.values(), GATHER, futures.FIRST_COMPLETED)
        # A batch costs the disk a sync, however small it is: let some gather.
        if sum(len(entries) for _, entries in batches) < self.batch:
            stop.wait(GATHER)
        return False

    def _collect(self) -> None:
        """Free the items whose thread has finished. Raises its unexpected errors."""
        for item, work in list(self.busy.items()):
            if work.done():
                del self.busy[item]
                work.result()

    def read(self, wait: int) -> list[Batch]:
        """Return the next sales: those that a dead consumer left, else new ones within `wait` ms.

        Skips items that are busy, and streams that wait before a retry.
        """
        streams = self._streams()
        if time.monotonic() >= self.next_tidy:
            self.next_tidy = time.monotonic() + TIDY
            self.tidy(streams)
        if time.monotonic() >= self.next_claim:
            if claimed := self.claim(streams):
                return claimed
            self.next_claim = time.monotonic() + LEFT_BEHIND / 1000
        streams = [each for each in streams if not self.backoff.waits(each.sales)]
        if not streams:
            time.sleep(wait / 1000)
            return []
        by_name = {each.sales.encode(): each for each in streams}
        try:
            new = self._xreadgroup(self.store, streams, wait)
        except redis.ResponseError:  # the error does not name the stream
            return self._read_each(streams)
        for each in streams:
            self.backoff.answered(each.sales)
        return [(by_name[name], entries) for name, entries in cast(Answer, new)]

    def _streams(self) -> list[Keys]:
        """Open streams of the items that are not busy, except those that back off."""
        items = [
            item
            for item in self.items
            if not (
                item in self.busy
                or self.backoff.waits(keys.streams(item))
                or self.mover.pairing.is_wrong(item)  # else items that may be moved would wait
            )
        ]
        streams, failed = rounds.open_streams(self.store, items)
        for item, error in failed.items():
            self.backoff.back_off(keys.streams(item), error)
        return [each for each in streams if not self.backoff.waits(each.sales)]

    def _xreadgroup(self, client: Any, streams: list[Keys], wait: int) -> Any:
        new = dict.fromkeys([each.sales for each in streams], ">")
        # A wait of 0 would mean forever.
        return client.xreadgroup(GROUP, self.name, new, count=self.batch, block=wait or None)

    def _read_each(self, streams: list[Keys]) -> list[Batch]:
        """Read streams one at a time, so that only failing ones back off."""
        pipe = self.store.pipeline(transaction=False)
        for each in streams:
            self._xreadgroup(pipe, [each], 0)
        return [
            (each, entries)
            for each, answer in self._answered(streams, pipe.execute(raise_on_error=False))
            for _, entries in answer
        ]

    def _answered(self, streams: list[Keys], answers: list[Any]) -> list[tuple[Keys, Any]]:
        """Pair streams with their answers; recreate or back off streams that failed."""
        answered = []
        for each, answer in zip(streams, answers, strict=True):
            if isinstance(answer, redis.RedisError):
                self._failed(each, answer)
            else:
                answered.append((each, answer))
        return answered

    def _failed(self, names: Keys, error: redis.RedisError) -> None:
        """Recreate a missing group or stream; back off on any other error."""
        try:
            if "NOGROUP" in str(error) or "no such key" in str(error):
                log.warning("%s: its group is recreated: %s", names.sales, error)
                rounds.make_group(self.store, names)
                return
        except redis.ResponseError as again:
            error = again
        self.backoff.back_off(names.sales, error)

    def claim(self, streams: list[Keys]) -> list[Batch]:
        """Take over entries that a consumer read long ago and never acknowledged."""
        pipe = self.store.pipeline(transaction=False)
        for each in streams:
            pipe.xautoclaim(each.sales, GROUP, self.name, LEFT_BEHIND, count=self.batch)
        answers = self._answered(streams, pipe.execute(raise_on_error=False))
        return [(each, entries) for each, (_, entries, _) in answers if entries]

    def tidy(self, streams: list[Keys]) -> None:
        """Delete consumers that died with nothing pending, and the keys of rounds long ended."""
        for each in streams:
            try:
                self._tidy(each)
            except redis.ResponseError as error:
                self._failed(each, error)

    def _tidy(self, names: Keys) -> None:
        for consumer in self.store.xinfo_consumers(names.sales, GROUP):
            if not consumer["pending"] and consumer["idle"] > TIDY * 1000:
                self.store.xgroup_delconsumer(names.sales, GROUP, consumer["name"])
        try:
            round = rounds.find(self.store, names.item, names.number)
            since = clock.now(self.store) - STREAM_LIFE
            old = round is None or (round.ended is not None and round.ended < since)
        except Unreadable:  # a record that we cannot read is not ours to judge
            return
        waits = self.store.xlen(names.sales) or self.store.xlen(names.holds)
        if old and not waits and not self.store.exists(names.held):
            # (A round whose record is lost may have had a limit.)
            if round is None or round.per_buyer:
                forget_counters(self.store, names)
            self.store.unlink(names.holds, names.due, names.fence)
            self.store.srem(keys.streams(names.item), names.number)
