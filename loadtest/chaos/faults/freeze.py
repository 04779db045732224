"""SIGSTOP for longer than every lease: who wakes up knows nothing of what has happened."""

from __future__ import annotations

from contextlib import suppress

import psutil

from loadtest.chaos.database import SqliteFile
from loadtest.chaos.faults.struck import MISSED, Struck
from loadtest.chaos.plan import Step
from loadtest.chaos.process import Process
from loadtest.chaos.sight import Sight


def worker(sight: Sight, step: Step) -> Struck:
    chosen, ops = sight.aim_at_a_worker(step.fate)
    if chosen is None:
        return MISSED
    with suppress(psutil.NoSuchProcess):
        chosen.suspend()

    def end() -> None:
        with suppress(psutil.NoSuchProcess):
            chosen.resume()

    return Struck(f"pid {chosen.pid}", ops, end=end, late=lambda: sight.ops(chosen.pid))


def fulfil(sight: Sight, _: Step) -> Struck:
    unbooked = sight.aim_at_a_sale()
    return _frozen(sight, sight.shop.fulfil, set(), unbooked)


def store(sight: Sight, _: Step) -> Struck:
    ops, unbooked = sight.aim(), sight.unbooked()
    return _frozen(sight, sight.shop.stores.primary.process, ops, unbooked)


def replica(sight: Sight, _: Step) -> Struck:
    return _frozen(sight, sight.shop.stores.replica.process, sight.aim(), 0)


def database(sight: Sight, _: Step) -> Struck:
    """Of SQLite, the file: somebody holds it, as one does who is frozen in a transaction."""
    unbooked, ops = sight.aim_at_a_sale(), sight.ops()
    file = sight.shop.database
    if not isinstance(file, SqliteFile):
        return _frozen(sight, file.process, ops, unbooked)
    if not file.hold():
        return MISSED
    return Struck("its file is held", ops, unbooked, file.let_go, sight.ops)


def _frozen(sight: Sight, process: Process, ops: set[int], unbooked: int) -> Struck:
    process.freeze()
    return Struck("", ops, unbooked, process.thaw, sight.ops)
