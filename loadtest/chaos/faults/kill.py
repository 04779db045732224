"""SIGKILL: a process is cut off between any two instructions."""

from __future__ import annotations

import time
from contextlib import suppress

import psutil

from loadtest.chaos.fault_targeting import NO_TARGET, Effect, Halfway, Targeting
from loadtest.chaos.history import Part
from loadtest.chaos.plan import FaultStep

# s; a kill's `fate` chooses its moment within a step of about this length.
COURSE = 0.005  # of a purchase
BOOKING = 0.02  # a batch, from its reading to its acknowledgement


def worker(targeting: Targeting, step: FaultStep) -> Effect:
    """Kill one of the shop's workers. gunicorn starts another by itself."""
    if half := targeting.aim_between(Part.WORKER, step.fate):
        ops = targeting.ops(half.sender.pid)
        half.sender.kill()
        _discard(targeting, half)
        return Effect(f"{half.name}, pid {half.sender.pid}", ops)
    chosen, _ = targeting.aim_at_a_worker(step.fate)
    if chosen is None:
        return NO_TARGET
    time.sleep(step.fate * COURSE)
    ops = targeting.ops(chosen.pid)
    with suppress(psutil.NoSuchProcess):
        chosen.kill()
    return Effect(f"pid {chosen.pid}", ops)


def shop(targeting: Targeting, _: FaultStep) -> Effect:
    """Kill all workers and their master."""
    ops = targeting.aim()
    targeting.shop.shop.kill()
    return Effect("gunicorn and its workers", ops, end=targeting.shop.revive)


def fulfil(targeting: Targeting, step: FaultStep) -> Effect:
    if half := targeting.aim_between(Part.FULFIL, step.fate):
        unbooked = targeting.unbooked()
    else:
        unbooked = targeting.aim_at_a_batch()
        time.sleep(step.fate * BOOKING)
    targeting.shop.fulfil.kill()
    if half:
        _discard(targeting, half)
    return Effect(half.name if half else "", unbooked=unbooked, end=targeting.shop.revive)


def _discard(targeting: Targeting, half: Halfway) -> None:
    """Drop the request that waits: its sender was killed before it sent this."""
    targeting.shop.proxies.cut([half.link])
    half.proxy.resume()


def store(targeting: Targeting, _: FaultStep) -> Effect:
    """Kill the store; its log stays as it was written."""
    ops, unbooked = targeting.aim(), targeting.unbooked()
    targeting.shop.stores.primary.process.kill()
    return Effect("", ops, unbooked, targeting.shop.revive)


def replica(targeting: Targeting, _: FaultStep) -> Effect:
    ops = targeting.aim()
    targeting.shop.stores.replica.process.kill()
    return Effect("", ops, end=targeting.shop.revive)


def database(targeting: Targeting, _: FaultStep) -> Effect:
    process = targeting.shop.database.process
    if process is None:
        return NO_TARGET
    unbooked, ops = targeting.aim_at_a_sale(), targeting.ops()
    process.kill()
    return Effect("", ops, unbooked, targeting.shop.revive)
