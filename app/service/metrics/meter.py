"""One worker's counts of purchases: in memory at each purchase, in files at each beat.

So a purchase costs a few additions, and a killed worker loses the counts since its last beat (see
worker_status). The figures are for display; the audit does not use them.
"""

from __future__ import annotations

import logging
import threading
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from app.domain import Outcome, Sale
from app.service.metrics.places import WorkerFiles

PURCHASES = "lastapple_purchases"
WAIT = "lastapple_purchase_wait_seconds"
# Counters next to the answers, with their help texts.
SUMS = {
    "lastapple_purchase_attempts": "Tries to sell, the first one of each purchase included.",
    "lastapple_purchase_conflicts": "Lost races: aborted EXECs, versions that had changed.",
    "lastapple_locks_lost": "Releases that found the lock not theirs any more.",
}
# s. A script takes less than the first; buyers wait for a lock 5 s by default, and 60 s at most.
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
EDGES = (*(str(bucket) for bucket in BUCKETS), "+Inf")

log = logging.getLogger(__name__)


@dataclass
class ModeCounts:
    """Counts of one mode, since this worker began."""

    answers: dict[str, int] = field(default_factory=dict)
    sums: list[int] = field(default_factory=lambda: [0] * len(SUMS))
    waits: list[int] = field(default_factory=lambda: [0] * len(EDGES))
    waited: float = 0.0  # s


class Meter:
    """One worker's meter. Used by all its threads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = threading.Lock()
        self.counts: dict[str, ModeCounts] = {}
        self.fresh = False  # something has been counted since it was written
        self.place: WorkerFiles | None = None
        self.shut = False  # there is no place for us

    def count(self, mode: str, sale: Sale | None, seconds: float) -> None:
        """Count a purchase that has ended after `seconds`; `sale` None: it ended with an error."""
        outcome = sale.outcome if sale else Outcome.ERROR
        with self.lock:
            counts = self.counts.get(mode) or self.counts.setdefault(mode, ModeCounts())
            counts.answers[outcome] = counts.answers.get(outcome, 0) + 1
            if sale:
                counts.sums[0] += sale.attempts
                counts.sums[1] += sale.conflicts
                counts.sums[2] += sale.lock_lost
            counts.waits[bisect_left(BUCKETS, seconds)] += 1
            counts.waited += seconds
            self.fresh = True

    def stop(self) -> None:
        """Write the last figures and give the place up; another worker may take it."""
        self.write()
        if self.place:
            self.place.leave()
            self.place, self.shut = None, True

    def write(self) -> None:
        """Write the counts to the files.

        If the disk is full once, this worker's figures are missing until it is replaced.
        """
        if not self.fresh or self.shut:
            return
        try:
            place = self.place = self.place or WorkerFiles(self.folder)
        except (OSError, RuntimeError, ValueError) as error:  # no room; or a file that is cut short
            log.warning("This worker's figures are missing in /metrics: %s", error)
            self.shut = True
            return
        with self.lock:
            self.fresh = False
            counts = [
                (mode, dict(each.answers), [*each.sums], [*each.waits], each.waited)
                for mode, each in self.counts.items()
            ]
        for mode, answers, sums, waits, waited in counts:
            for outcome, number in answers.items():
                labels = {"mode": mode, "outcome": outcome}
                place.put("counter", PURCHASES, "_total", labels, number, "Purchases, by answer.")
            for (name, about), number in zip(SUMS.items(), sums, strict=True):
                place.put("counter", name, "_total", {"mode": mode}, number, about)
            wait = partial(place.put, "histogram", WAIT, about="A buyer's wait for the answer.")
            for edge, number in zip(EDGES, waits, strict=True):
                wait("_bucket", {"mode": mode, "le": edge}, number)
            wait("_sum", {"mode": mode}, waited)
