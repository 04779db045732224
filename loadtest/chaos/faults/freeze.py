"""SIGSTOP for longer than every lease: a process that wakes up has missed all that happened."""

from __future__ import annotations

from contextlib import suppress

import psutil

from loadtest.chaos.database import SqliteFile
from loadtest.chaos.fault_targeting import NO_TARGET, Effect, Targeting
from loadtest.chaos.plan import FaultStep
from loadtest.chaos.process import Process


def worker(targeting: Targeting, step: FaultStep) -> Effect:
    chosen, ops = targeting.aim_at_a_worker(step.fate)
    if chosen is None:
        return NO_TARGET
    with suppress(psutil.NoSuchProcess):
        chosen.suspend()

    def end() -> None:
        with suppress(psutil.NoSuchProcess):
            chosen.resume()

    return Effect(f"pid {chosen.pid}", ops, end=end, late=lambda: targeting.ops(chosen.pid))


def fulfil(targeting: Targeting, _: FaultStep) -> Effect:
    unbooked = targeting.aim_at_a_sale()
    return _frozen(targeting, targeting.shop.fulfil, set(), unbooked)


def store(targeting: Targeting, _: FaultStep) -> Effect:
    ops, unbooked = targeting.aim(), targeting.unbooked()
    return _frozen(targeting, targeting.shop.stores.primary.process, ops, unbooked)


def replica(targeting: Targeting, _: FaultStep) -> Effect:
    return _frozen(targeting, targeting.shop.stores.replica.process, targeting.aim(), 0)


def database(targeting: Targeting, _: FaultStep) -> Effect:
    """Freeze PostgreSQL, or hold SQLite's file like a process that is frozen in a transaction."""
    unbooked, ops = targeting.aim_at_a_sale(), targeting.ops()
    file = targeting.shop.database
    if not isinstance(file, SqliteFile):
        return _frozen(targeting, file.process, ops, unbooked)
    if not file.hold():
        return NO_TARGET
    return Effect("its file is held", ops, unbooked, file.let_go, targeting.ops)


def _frozen(targeting: Targeting, process: Process, ops: set[int], unbooked: int) -> Effect:
    process.freeze()
    return Effect("", ops, unbooked, process.thaw, targeting.ops)
