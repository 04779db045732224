"""The process of one comparison: it starts its runs, one after the other."""

from __future__ import annotations

import logging
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from app.domain import DatabaseAway, RunIsOn, ShopError, StockHeld, StoreAway
from app.lab.comparison.comparisons import Comparisons
from app.lab.comparison.record import Comparison, Planned, Result
from app.lab.stampede.drivers import Drivers
from app.lab.stampede.heartbeat import Heartbeat
from app.lab.stampede.record import How, Run
from app.store import runs as records
from app.store.clients.redis import answering
from app.store.keys import COMPARISONS

TICK = 0.2  # s between two looks at the run's process
SERVER_BACK_S = 30.0  # for a store or database that went away to come back
LONGEST = 120.0  # s that a run's process may take beyond its selling: start, last answers, audit
HURRY = 1.5  # s for the run's process to end when the lab itself is being stopped
IN_A_ROW = 2  # runs that died one after the other, after which the comparison gives up

log = logging.getLogger(__name__)
T = TypeVar("T")


class GivenUp(Exception):
    """Raised when the comparison ends before its plan does."""

    def __init__(self, how: How, why: str = "") -> None:
        super().__init__(how)
        self.how = how
        self.why = why


class Conduct:
    """Carries out one comparison, run by run, in a process of its own."""

    def __init__(self, comparisons: Comparisons, drivers: Drivers, stop: threading.Event) -> None:
        """`drivers` start the runs' processes; `stop` is set when the lab is being stopped."""
        self.comparisons = comparisons
        self.runs = comparisons.runs
        self.drivers = drivers
        self.interrupted = stop

    def run(self, wanted: Comparison) -> None:
        """Carry out the comparison. Raises StoreAway when not even its end can be written."""
        self.done = wanted
        with Heartbeat(self.runs.store, COMPARISONS, wanted.id) as self.heartbeat:
            how, why = How.FINISHED, ""
            try:
                self.stampede()
            except GivenUp as early:
                how, why = early.how, early.why
            if self.heartbeat.lost:
                log.error("%s stops: another one was started meanwhile", wanted.id)
                return
            self.finish(replace(self.done, how=how, why=why))

    def finish(self, last: Comparison) -> None:
        """Write how it ended. Raises StoreAway when that fails."""
        try:
            self.patiently(lambda: self.comparisons.finish(last))
        except GivenUp as failed:
            raise StoreAway(failed.why) from failed

    def stampede(self) -> None:
        """Run all that is planned. Raises GivenUp."""
        before: Run | None = None
        for planned in self.done.plan():
            if before:
                self.check_that_the_item_is_ours(before)
            before = self.step(planned)
            result = Result.of(planned, before)
            self.tell(replace(self.done, run="", results=[*self.done.results, result]))
            if self.interrupted.is_set():
                raise GivenUp(How.INTERRUPTED)
            if before.how == How.OVERTAKEN:
                raise GivenUp(How.OVERTAKEN)
            if self.stop_wanted():
                raise GivenUp(How.STOPPED)
            last = self.done.results[-IN_A_ROW:]
            if len(last) == IN_A_ROW and all(
                each.how in (How.FAILED, How.CRASHED) for each in last
            ):
                raise GivenUp(How.FAILED, before.why)

    def check_that_the_item_is_ours(self, before: Run) -> None:
        """Check that no other round was begun since our last run. Raises GivenUp."""
        newest = self.patiently(lambda: self.runs.rounds.newest(before.item))
        if newest is not None and newest.number != before.round.number:
            raise GivenUp(How.OVERTAKEN)

    def step(self, planned: Planned) -> Run:
        """Carry out one run, from its start to its end, and return it."""
        wanted = self.done
        run = self.patiently(
            lambda: self.runs.start(
                wanted.item,
                planned.mode,
                wanted.stock,
                wanted.times,
                wanted.crowd,
                self.drivers.start,
                wanted.id,
            )
        )
        self.tell(replace(wanted, run=run.id))
        self.wait_for(self.drivers.children[-1], run)
        ended = self.patiently(lambda: self.runs.find(run.id))
        if ended.ended is None:  # its process is gone without a record of its end
            self.patiently(lambda: self.runs.mark_crashed(ended))
            ended = self.patiently(lambda: self.runs.find(run.id))
        return ended

    def wait_for(self, child: subprocess.Popen[bytes], run: Run) -> None:
        """Wait until the run's process has ended, or sooner when we must stop. Raises GivenUp."""
        deadline = time.monotonic() + run.seconds + LONGEST
        is_stopping = False
        while child.poll() is None:
            if self.interrupted.wait(TICK) or self.heartbeat.lost:
                child.terminate()
                with suppress(subprocess.TimeoutExpired):
                    child.wait(HURRY)
                raise GivenUp(How.INTERRUPTED)
            if time.monotonic() > deadline:
                child.kill()
                child.wait()
            if not is_stopping and self.stop_wanted():
                with suppress(StoreAway):
                    self.runs.stop(run.id)
                    is_stopping = True

    def stop_wanted(self) -> bool:
        """Return whether Stop was pressed; False also while the store is away."""
        with suppress(StoreAway), answering():
            return records.stop_wanted(self.runs.store, self.done.keys)
        return False

    def tell(self, now: Comparison) -> None:
        """Write the progress. Raises GivenUp."""
        self.done = now
        self.patiently(lambda: self.comparisons.tell(now))

    def patiently(self, deed: Callable[[], T]) -> T:
        """Retry for SERVER_BACK_S while a server is away. Raises GivenUp with the reason.

        Retries RunIsOn, too: that may be our own run, whose start was not answered.
        """
        deadline = time.monotonic() + SERVER_BACK_S
        while True:
            try:
                return deed()
            except (StoreAway, DatabaseAway, RunIsOn, StockHeld) as error:
                log.warning("%s", error)
                if self.interrupted.is_set() or self.heartbeat.lost:
                    raise GivenUp(How.INTERRUPTED) from error
                if time.monotonic() > deadline:
                    raise GivenUp(How.FAILED, str(error)) from error
            except (OSError, ShopError) as error:
                raise GivenUp(How.FAILED, str(error)) from error
            self.interrupted.wait(TICK)
