"""A full disk: files cannot grow beyond their present size."""

from __future__ import annotations

import resource
from contextlib import suppress

import psutil

from loadtest.chaos.database import SqliteFile
from loadtest.chaos.fault_targeting import NO_TARGET, Effect, Targeting
from loadtest.chaos.plan import FaultStep
from loadtest.chaos.shop import TestedShop

FULL, FREE = 1, resource.RLIM_INFINITY  # bytes


def store(targeting: Targeting, _: FaultStep) -> Effect:
    """Let the store's disk be full: it ends itself (always), or refuses writes (everysec)."""
    ops, server = targeting.aim(), targeting.shop.stores.primary
    server.limit(server.log.stat().st_size)

    def end() -> None:
        server.limit()
        targeting.shop.revive()

    return Effect("", ops, targeting.unbooked(), end, targeting.ops)


def database(targeting: Targeting, _: FaultStep) -> Effect:
    """Limit each process that writes SQLite's file or the files next to it."""
    file = targeting.shop.database
    if not isinstance(file, SqliteFile):
        return NO_TARGET
    unbooked, ops = targeting.aim_at_a_sale(), targeting.ops()
    # Its write-ahead log is rewritten from its beginning: it gets no room at all.
    _limit(targeting.shop, FULL)
    return Effect("", ops, unbooked, lambda: _limit(targeting.shop, FREE), targeting.ops)


def _limit(shop: TestedShop, size: int) -> None:
    """Limit files of each process that writes to the database, and of its later children."""
    for each in [*shop.shop.family(), *shop.fulfil.family()]:
        with suppress(psutil.NoSuchProcess):
            each.rlimit(resource.RLIMIT_FSIZE, (size, FREE))
