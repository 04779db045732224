"""The process of one run: buyers, samples, the audit; and its heartbeat meanwhile."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import orjson

from app.domain import DatabaseAway, ShopError, StoreAway
from app.lab.stampede.heartbeat import Heartbeat
from app.lab.stampede.load import KILL, LAST_ANSWERS, Load
from app.lab.stampede.record import How, Run
from app.lab.stampede.runs import Runs
from app.lab.stampede.sample import Sample
from app.lab.stampede.scene import look
from app.service.audit import Auditor
from app.service.verdict import Audit
from app.store import runs as records
from app.store.clients.redis import answering

WINDOW = 2  # samples, one second: as the buyers count their sales (loadtest/feed.py)


class Goodput:
    """The goodput of the last second, sample by sample. `stock` and `sold` count units."""

    def __init__(self, stock: int) -> None:
        self.stock = stock
        self.seen: deque[tuple[float, int]] = deque([(0.0, 0)], maxlen=WINDOW + 1)

    def now(self, at: float, sold: int) -> float | None:
        """Return sales a second; None before the first buyer.

        `at` is s since the first buyer came.
        """
        self.seen.append((at, min(sold, self.stock)))
        (before, had), (_, has) = self.seen[0], self.seen[-1]
        return round((has - had) / (at - before), 1) if at > before else None


def whole(sales: float | None, sold: int, stock: int) -> float | None:
    """Return a whole run's goodput, from its `sales` a second; None: nothing was sold."""
    return round(sales * min(sold, stock) / sold, 1) if sales and sold else None


TICK = 0.5  # s between two samples
QUIET = 2.0  # s without a sale, after the last unit, until the run is over
SETTLE = 30.0  # s for the audit to be sure
LONGEST_PAUSE = 4.0  # s between two audits: each reads all orders of the round
HURRY = 0.5  # s for everything to end when the lab itself is being stopped

log = logging.getLogger(__name__)


class Drive:
    """Carries out one run. Only the load's process is in memory; all else is in the store."""

    def __init__(self, runs: Runs, auditor: Auditor, shop: str, stop: threading.Event) -> None:
        """`shop` is the address to buy at. `stop` is set when the lab is being stopped."""
        self.runs = runs
        self.auditor = auditor
        self.shop = shop
        self.interrupted = stop
        self.sample: Sample = {}

    def run(self, run: Run) -> None:
        """Carry out the run. Raises StoreAway when not even its end can be written."""
        self.goodput = Goodput(run.round.stock)
        with Heartbeat(self.runs.store, run.item, run.id) as self.heartbeat:
            load = Load(self.shop, run.item, run.buyers, run.seconds)
            try:
                how = self.sell(run, load)
                load.stop()
                self.drain(run, load)
            finally:
                load.end(HURRY if self.interrupted.is_set() else KILL)
            why = load.last_word() if how is How.FAILED else ""
            if self.heartbeat.lost:
                log.error("Run %s stops: another one was started meanwhile", run.id)
                return
            self.finish(replace(run, how=how, why=why), load)

    def sell(self, run: Run, load: Load) -> How:
        """Run until the time is up, all is sold, or something else ends it. Return which."""
        began: float | None = None  # when the first buyer came
        sold, last_sale = 0, time.monotonic()
        for now in self.ticks():
            if began is None and load.said:
                began, last_sale = now - load.said["took_s"], now
            at = now - began if began is not None else 0.0
            self.tell(run, load, "starting" if began is None else "selling", at)
            if self.sample.get("sold", 0) > sold:
                sold, last_sale = self.sample["sold"], now
            if self.interrupted.is_set() or self.heartbeat.lost:
                break
            if not load.alive():
                return How.FAILED
            if self.stop_wanted(run):
                return How.STOPPED
            if self.overtaken(run):
                return How.OVERTAKEN
            out = self.sample.get("left", 1) == 0 and now - last_sale > QUIET
            if at >= run.seconds or out:
                return How.FINISHED
        return How.INTERRUPTED

    def drain(self, run: Run, load: Load) -> None:
        """Wait until the purchases under way are answered, at the shop's pace."""
        start, at = time.monotonic(), self.sample.get("at_s", 0.0)
        while load.alive() and time.monotonic() < start + LAST_ANSWERS:
            if self.interrupted.wait(TICK) or self.heartbeat.lost:
                return
            self.tell(run, load, "settling", at + time.monotonic() - start)

    def ticks(self) -> Iterator[float]:
        """Yield moments of time.monotonic(), TICK apart; at once when we are interrupted."""
        due = time.monotonic()
        while True:
            yield time.monotonic()
            due = max(due + TICK, time.monotonic())
            self.interrupted.wait(max(0.0, due - time.monotonic()))

    def tell(self, run: Run, load: Load, phase: str, at: float) -> None:
        """Add a sample. While store or database is away there is none."""
        try:
            sample = look(self.runs.rounds, run.round)
            self.sample = {**load.said, **sample, "phase": phase, "at_s": round(at, 2)}
            self.sample["sales"] = load.said.get("goodput")
            self.sample["goodput"] = self.goodput.now(at, sample["sold"])
            with answering():
                records.add(self.runs.store, run.keys, "sample", orjson.dumps(self.sample))
        except (StoreAway, DatabaseAway) as error:
            log.warning("no sample: %s", error)

    def stop_wanted(self, run: Run) -> bool:
        """Return whether Stop was pressed; False also while the store is away."""
        with suppress(StoreAway), answering():
            return records.stop_wanted(self.runs.store, run.keys)
        return False

    def overtaken(self, run: Run) -> bool:
        """Return whether our round is over: purchases after that are in another round."""
        with suppress(StoreAway):
            return self.runs.rounds.newest(run.item) != run.round
        return False

    def finish(self, run: Run, load: Load) -> None:
        """End the round, wait for the audit, and write the end. Retries for SETTLE."""
        deadline = time.monotonic() + (0 if self.interrupted.is_set() else SETTLE)
        start, at, pause = time.monotonic(), self.sample.get("at_s", 0.0), TICK
        audit: Audit | None = None
        while True:
            try:
                self.runs.end_round(run)
                if not self.interrupted.is_set():
                    audit = self.auditor.audit(run.round)
            except ShopError as error:
                log.warning("not settled yet: %s", error)
            hurry = self.interrupted.is_set() or time.monotonic() > deadline
            if hurry or (audit and audit.settled):
                break
            self.tell(run, load, "settling", at + time.monotonic() - start)
            self.interrupted.wait(pause)
            pause = min(LONGEST_PAUSE, pause * 1.5)
        # The last second does not matter now: the whole run counts.
        sample: Sample = {**self.sample, **load.said, "sales": load.said.get("overall")}
        if audit:
            sample |= {"left": audit.left, "sold": audit.sold}
        sample["goodput"] = whole(sample["sales"], sample.get("sold", 0), run.round.stock)
        how = How.INTERRUPTED if self.interrupted.is_set() else run.how
        self.runs.finish(replace(run, how=how, audit=audit, figures=sample))
