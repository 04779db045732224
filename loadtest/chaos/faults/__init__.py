"""What can be done to a running shop: one visible table, a file for each kind of deed.

A strike waits for a moment in which it meets something, does its deed, and returns what it met, and
how it ends. All strikes and ends are called in the main thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from loadtest.chaos import preload
from loadtest.chaos.faults import clock, cut_log, disk, freeze, kill, lag, wire
from loadtest.chaos.faults.struck import Struck
from loadtest.chaos.plan import Step, Target
from loadtest.chaos.sight import Sight
from loadtest.chaos.words import Kind, Where

Strike = Callable[[Sight, Step], Struck]

WAYS = (Where.SHOP, Where.STORE, Where.FULFIL, Where.DATABASE)
WIRE = (Kind.SWALLOW, Kind.DELAY, Kind.CUT, Kind.HALF_OPEN)

STRIKES: dict[Target, Strike] = {
    (Kind.KILL, Where.WORKER): kill.worker,
    (Kind.KILL, Where.FULFIL): kill.fulfil,
    (Kind.KILL, Where.STORE): kill.store,
    (Kind.KILL, Where.REPLICA): kill.replica,
    (Kind.KILL, Where.DATABASE): kill.database,
    (Kind.KILL, Where.SHOP): kill.shop,
    (Kind.FREEZE, Where.WORKER): freeze.worker,
    (Kind.FREEZE, Where.FULFIL): freeze.fulfil,
    (Kind.FREEZE, Where.STORE): freeze.store,
    (Kind.FREEZE, Where.REPLICA): freeze.replica,
    (Kind.FREEZE, Where.DATABASE): freeze.database,
    **{(kind, way): wire.strike for kind in WIRE for way in WAYS},
    (Kind.FAILOVER, Where.STORE): lag.failover,
    (Kind.DISK_FULL, Where.STORE): disk.store,
    (Kind.DISK_FULL, Where.DATABASE): disk.database,
    (Kind.LOG_CUT, Where.STORE): cut_log.store,
    (Kind.CLOCK, Where.WORKER): clock.worker,
}
# A SQLite file has no process and no connection of its own.
ONLY_POSTGRESQL = {(Kind.KILL, Where.DATABASE), *((kind, Where.DATABASE) for kind in WIRE)}
ONLY_SQLITE = {(Kind.DISK_FULL, Where.DATABASE)}  # a PostgreSQL that cannot write ends in a panic
# By far the most of what can happen to a shop's own processes; the rest is one of each.
OFTEN = ((Kind.KILL, Where.WORKER), (Kind.FREEZE, Where.WORKER), (Kind.KILL, Where.FULFIL))


def possible(postgresql: bool) -> list[Target]:
    """What can be done here, as often as it is to be chosen."""
    without = set(ONLY_SQLITE if postgresql else ONLY_POSTGRESQL)
    if not preload.possible():
        without.add((Kind.LOG_CUT, Where.STORE))
    if sys.platform != "linux":
        without |= {(Kind.DISK_FULL, Where.STORE), (Kind.DISK_FULL, Where.DATABASE)}
    return [target for target in (*STRIKES, *OFTEN) if target not in without]
