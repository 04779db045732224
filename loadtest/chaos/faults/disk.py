"""A disk that is full: a file can grow no further than it has grown."""

from __future__ import annotations

import resource
from contextlib import suppress

import psutil

from loadtest.chaos.database import SqliteFile
from loadtest.chaos.faults.struck import MISSED, Struck
from loadtest.chaos.plan import Step
from loadtest.chaos.shop import Shop
from loadtest.chaos.sight import Sight

FULL, FREE = 1, resource.RLIM_INFINITY  # bytes


def store(sight: Sight, _: Step) -> Struck:
    """It ends itself when it cannot write its log (always), or refuses what writes (everysec)."""
    ops, server = sight.aim(), sight.shop.stores.primary
    server.limit(server.log.stat().st_size)

    def end() -> None:
        server.limit()
        sight.shop.revive()

    return Struck("", ops, sight.unbooked(), end, sight.ops)


def database(sight: Sight, _: Step) -> Struck:
    """Whoever writes to SQLite's file, and to what it puts beside it."""
    file = sight.shop.database
    if not isinstance(file, SqliteFile):
        return MISSED
    unbooked, ops = sight.aim_at_a_sale(), sight.ops()
    # Its write-ahead log is written from its beginning again and again: there is no room at all.
    _limit(sight.shop, FULL)
    return Struck("", ops, unbooked, lambda: _limit(sight.shop, FREE), sight.ops)


def _limit(shop: Shop, size: int) -> None:
    """Of all that writes to the database, and what it forks from now on."""
    for each in [*shop.shop.family(), *shop.fulfil.family()]:
        with suppress(psutil.NoSuchProcess):
            each.rlimit(resource.RLIMIT_FSIZE, (size, FREE))
