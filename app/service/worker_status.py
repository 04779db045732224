"""Each worker's status, published for the lab and for the audit's word *settling*.

Four times a second each shop worker writes one field per round into the round's hash: how many
purchases are under way, for how long none has been, and how its answers so far were counted. The
counts are for display. The audit never takes them as evidence; it only asks whether all workers
were quiet while it read.

Clocks cannot answer that, as they differ. Instead, an audit counts its readings of a round's books
in the store: it raises a counter before it reads and again after it. A worker reports the counter's
value when it became quiet, and the value that it sees now. If the worker became quiet before the
first rise, and is still quiet at the second, it sold nothing in between.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import redis

from app.domain import Outcome, Round, RoundLeft, Sale, StoreAway, records
from app.service.metrics.meter import Meter
from app.store import lua
from app.store.keys import Keys

BEAT_S = 0.25  # between two beats: a worker learns of a switch, and the audit of it, in time
DEAD_S = 5.0  # without a beat: the worker and its purchases count as dead
# Without a beat for so long, a worker beats before it sells: well before it counts as dead.
MUTE_S = DEAD_S / 2
log = logging.getLogger(__name__)


@dataclass
class WorkerStatus:
    """One worker's state in one round."""

    in_flight: int = 0
    seen: int = 0  # readings of the books that it knew of when it spoke
    quiet: int | None = None  # those it knew of when first found quiet; None: it was not, since
    idle: float = 0.0  # s since its last purchase ended, 0 while one is under way
    left_round: bool = False  # this worker will never sell in the round again
    answers: dict[str, int] = field(default_factory=dict)
    conflicts: int = 0
    locks_lost: int = 0
    age: float = 0.0  # s since the worker wrote this, by the store's clock

    def count(self, outcome: Outcome) -> None:
        """Add one answer of this outcome."""
        self.answers[outcome.value] = self.answers.get(outcome.value, 0) + 1

    @property
    def dead(self) -> bool:
        """Whether the worker has been silent for so long that no purchase of it can be running."""
        return self.age > DEAD_S

    def spoke_after(self, reading: int) -> bool:
        """Whether the worker wrote this after that reading; a dead worker's last status counts."""
        return self.left_round or self.seen >= reading or self.dead

    def quiet_before(self, reading: int) -> bool:
        """Whether no purchase has run since before that reading; a dead worker runs none."""
        return self.dead or (self.quiet is not None and self.quiet < reading)

    def quiet_for(self, seconds: float) -> bool:
        """Whether no purchase is known to have run for the last `seconds`."""
        return self.dead or (self.in_flight == 0 and self.idle + self.age >= seconds)


@dataclass
class Shift:
    """This worker's time in one round."""

    keys: Keys
    mode: str
    status: WorkerStatus = field(default_factory=WorkerStatus)
    purchases: int = 0  # begun so far
    since: float = field(default_factory=time.monotonic)  # nothing is under way
    spoke: float = field(default_factory=time.monotonic)  # when it last set out to say so


class StatusReporter:
    """This worker's statuses, one for each round it sells in."""

    def __init__(self, store: redis.Redis, on_beat: Callable[[], None], meter: Meter) -> None:
        """`on_beat` runs before each beat, in the beating thread; `meter` counts for Prometheus."""
        self.store = store
        self.say = store.register_script(lua.source("say_status"))
        self.worker = f"{os.uname().nodename}-{os.getpid()}-{os.urandom(3).hex()}"
        self.on_beat = on_beat
        self.meter = meter
        self.shifts: dict[str, Shift] = {}  # by the name of the round's hash
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        self.threads: list[threading.Thread] = []  # ours, and others that end with us

    def start(self) -> None:
        """Start the thread that beats until `stop`. Call it only once."""
        beats = threading.Thread(target=self._beat_until_stopped, name="status", daemon=True)
        beats.start()
        self.threads.append(beats)

    def enter(self, keys: Keys, mode: str) -> None:
        """Publish a status in a round before the first purchase, so that audits see this worker."""
        with self.lock:
            shift = self.shifts.setdefault(keys.workers, Shift(keys, mode))
            shift.status.left_round = False
        self._publish(shift)

    def leave(self, keys: Keys) -> None:
        """Begin no more purchases in that round; those that run may still end."""
        with self.lock:
            if shift := self.shifts.get(keys.workers):
                shift.status.left_round = True

    @contextmanager
    def under_way(self, keys: Keys) -> Iterator[Callable[[Sale], None]]:
        """Count one purchase as in flight.

        Call what it yields with the sale; no call means an error. Raises RoundLeft when this worker
        has left the round: it may sell nothing in it any more. A worker that was silent for too
        long first publishes its status, as audits take it for dead: raises redis.RedisError.
        """
        with self.lock:
            shift = self.shifts.get(keys.workers)
        if shift and time.monotonic() - shift.spoke > MUTE_S:
            self._publish(shift)
        with self.lock:
            if shift is None or shift.status.left_round:
                raise RoundLeft
            status = shift.status
            status.in_flight += 1  # the beats continue until this purchase ends
            status.quiet = None
            shift.purchases += 1
        ended: list[Sale] = []
        began = time.monotonic()
        try:
            yield ended.append
        finally:
            with self.lock:
                status.in_flight -= 1
                if status.in_flight == 0:
                    shift.since = time.monotonic()
                for sale in ended:
                    if sale.outcome is not Outcome.ROUND_OVER:
                        status.count(sale.outcome)
                    status.conflicts += sale.conflicts
                    status.locks_lost += sale.lock_lost
                if not ended:
                    status.count(Outcome.ERROR)
            if not ended or ended[0].outcome is not Outcome.ROUND_OVER:
                known = ended[0] if ended else None
                self.meter.count(shift.mode, known, time.monotonic() - began)

    def stop(self) -> None:
        """Stop the beats; returns when the running beat is over, or has taken DEAD_S.

        A worker that just ends needs no stop: it will count as dead.
        """
        self.stopped.set()
        for thread in self.threads:
            thread.join(DEAD_S)
        self.meter.stop()

    def _beat_until_stopped(self) -> None:
        while not self.stopped.wait(BEAT_S):
            # Each alone: on a cluster, one item's node may be away while others answer.
            self._try(self.on_beat)
            for shift in list(self.shifts.values()):
                self._try(partial(self._publish, shift))
            self._try(self.meter.write)

    @staticmethod
    def _try(deed: Callable[[], None]) -> None:
        try:
            deed()
        except (redis.RedisError, StoreAway) as error:
            log.warning("no beat, the store does not answer: %s", error)
        except Exception:  # an error in one round must not stop the others' beats
            log.exception("no beat")

    def _publish(self, shift: Shift) -> None:
        with self.lock:
            purchases, quiet = shift.purchases, shift.status.in_flight == 0
        readings = int(self.store.get(shift.keys.readings) or 0)
        with self.lock:
            status = shift.status
            if quiet and shift.purchases == purchases and status.quiet is None:
                status.quiet = readings  # it was quiet when `readings` was read
            status.seen = readings
            status.idle = 0.0 if status.in_flight else time.monotonic() - shift.since
            done = status.left_round and status.quiet is not None
            payload = records.encode(replace(status, left_round=done))
            if done:
                self.shifts.pop(shift.keys.workers, None)
        begun = time.monotonic()
        self.say(keys=[shift.keys.workers], args=[self.worker, payload])
        shift.spoke = begun


def worker_statuses(store: redis.Redis, round: Round) -> list[WorkerStatus]:
    """Return every worker's last status in a round. Raises Unreadable for a newer version's."""
    read = store.register_script(lua.source("read_statuses"))
    now, *replies = read(keys=[Keys(round.item, round.number).workers])
    return [_status(text, int(now)) for text in replies]


def _status(said: bytes, now: int) -> WorkerStatus:
    moment, _, text = said.partition(b" ")
    return replace(records.decode(WorkerStatus, text), age=(now - int(moment)) / 1000)
