"""SIGKILL: what it did is cut off between any two instructions."""

from __future__ import annotations

import time
from contextlib import suppress

import psutil

from loadtest.chaos.faults.struck import MISSED, Struck
from loadtest.chaos.plan import Step
from loadtest.chaos.sight import Sight

# s; by its fate a kill falls anywhere into what takes about so long.
COURSE = 0.005  # of a purchase
BOOKING = 0.02  # of a batch, from its reading to its acknowledgement


def worker(sight: Sight, step: Step) -> Struck:
    """One of the shop's. gunicorn starts another by itself."""
    chosen, _ = sight.aim_at_a_worker(step.fate)
    if chosen is None:
        return MISSED
    time.sleep(step.fate * COURSE)
    ops = sight.ops(chosen.pid)
    with suppress(psutil.NoSuchProcess):
        chosen.kill()
    return Struck(f"pid {chosen.pid}", ops)


def shop(sight: Sight, _: Step) -> Struck:
    """All workers and their master."""
    ops = sight.aim()
    sight.shop.shop.kill()
    return Struck("gunicorn and its workers", ops, end=sight.shop.revive)


def fulfil(sight: Sight, step: Step) -> Struck:
    unbooked = sight.aim_at_a_batch()
    time.sleep(step.fate * BOOKING)
    sight.shop.fulfil.kill()
    return Struck("", unbooked=unbooked, end=sight.shop.revive)


def store(sight: Sight, _: Step) -> Struck:
    """Its log stays as it was written."""
    ops, unbooked = sight.aim(), sight.unbooked()
    sight.shop.stores.primary.process.kill()
    return Struck("", ops, unbooked, sight.shop.revive)


def replica(sight: Sight, _: Step) -> Struck:
    ops = sight.aim()
    sight.shop.stores.replica.process.kill()
    return Struck("", ops, end=sight.shop.revive)


def database(sight: Sight, _: Step) -> Struck:
    process = sight.shop.database.process
    if process is None:
        return MISSED
    unbooked, ops = sight.aim_at_a_sale(), sight.ops()
    process.kill()
    return Struck("", ops, unbooked, sight.shop.revive)
