"""SIGSTOP for longer than every lease: a process that wakes up has missed all that happened."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace

import psutil

from loadtest.chaos.database import SqliteFile
from loadtest.chaos.fault_targeting import NO_TARGET, Effect, Halfway, Targeting
from loadtest.chaos.history import Part
from loadtest.chaos.plan import FaultStep
from loadtest.chaos.process import Process

PASSING = 0.05  # s for a request and its answer


def worker(targeting: Targeting, step: FaultStep) -> Effect:
    half = targeting.aim_between(Part.WORKER, step.fate)
    chosen, ops = (half.sender, set[int]()) if half else targeting.aim_at_a_worker(step.fate)
    if chosen is None:
        return NO_TARGET
    ops = ops or targeting.ops(chosen.pid)
    with suppress(psutil.NoSuchProcess):
        chosen.suspend()

    def end() -> None:
        _pass_on(half)
        with suppress(psutil.NoSuchProcess):
            chosen.resume()

    detail = f"{half.name}, pid {chosen.pid}" if half else f"pid {chosen.pid}"
    return Effect(detail, ops, end=end, late=lambda: targeting.ops(chosen.pid))


def fulfil(targeting: Targeting, step: FaultStep) -> Effect:
    half = targeting.aim_between(Part.FULFIL, step.fate)
    unbooked = targeting.unbooked() if half else targeting.aim_at_a_sale()
    effect = _frozen(targeting, targeting.shop.fulfil, set(), unbooked)
    thaw = effect.end

    def end() -> None:
        _pass_on(half)
        thaw()

    return replace(effect, detail=half.name if half else "", end=end)


def _pass_on(half: Halfway | None) -> None:
    """Pass on the request that waits. Its sender wakes up afterwards, and finds the answer."""
    if half:
        half.proxy.resume()
        time.sleep(PASSING)


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
