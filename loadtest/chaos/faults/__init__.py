"""Faults that can be injected into a running shop: one table, a file for each kind.

A strike waits for a moment in which it has a target and acts. It returns what it hit, and how it
ends. All strikes and ends are called in the main thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from loadtest.chaos.fault_targeting import Effect, Targeting
from loadtest.chaos.faults import clock, disk, failover, freeze, kill, network, power_loss
from loadtest.chaos.history import Kind, Part
from loadtest.chaos.plan import FaultSpec, FaultStep
from loadtest.chaos.stores import can_know_what_is_synced

Strike = Callable[[Targeting, FaultStep], Effect]

PROXIED = (Part.SHOP, Part.STORE, Part.FULFIL, Part.DATABASE)
WIRE = (Kind.SWALLOW, Kind.DELAY, Kind.CUT, Kind.HALF_OPEN)

STRIKES: dict[FaultSpec, Strike] = {
    (Kind.KILL, Part.WORKER): kill.worker,
    (Kind.KILL, Part.FULFIL): kill.fulfil,
    (Kind.KILL, Part.STORE): kill.store,
    (Kind.KILL, Part.REPLICA): kill.replica,
    (Kind.KILL, Part.DATABASE): kill.database,
    (Kind.KILL, Part.SHOP): kill.shop,
    (Kind.FREEZE, Part.WORKER): freeze.worker,
    (Kind.FREEZE, Part.FULFIL): freeze.fulfil,
    (Kind.FREEZE, Part.STORE): freeze.store,
    (Kind.FREEZE, Part.REPLICA): freeze.replica,
    (Kind.FREEZE, Part.DATABASE): freeze.database,
    **{(kind, part): network.strike for kind in WIRE for part in PROXIED},
    (Kind.FAILOVER, Part.STORE): failover.failover,
    (Kind.DISK_FULL, Part.STORE): disk.store,
    (Kind.DISK_FULL, Part.DATABASE): disk.database,
    (Kind.LOG_CUT, Part.STORE): power_loss.store,
    (Kind.CLOCK, Part.WORKER): clock.worker,
}
# A SQLite file has no process and no connection of its own.
ONLY_POSTGRESQL = {(Kind.KILL, Part.DATABASE), *((kind, Part.DATABASE) for kind in WIRE)}
ONLY_SQLITE = {(Kind.DISK_FULL, Part.DATABASE)}  # a PostgreSQL that cannot write ends in a panic
# By far the most are faults of the shop's own processes; there is one of each other fault.
OFTEN = ((Kind.KILL, Part.WORKER), (Kind.FREEZE, Part.WORKER), (Kind.KILL, Part.FULFIL))


def list_possible_faults(postgresql: bool) -> list[FaultSpec]:
    """List the faults that this machine can inject, each as often as it is to be drawn."""
    without = set(ONLY_SQLITE if postgresql else ONLY_POSTGRESQL)
    if not can_know_what_is_synced():
        without.add((Kind.LOG_CUT, Part.STORE))
    if sys.platform != "linux":
        without |= {(Kind.DISK_FULL, Part.STORE), (Kind.DISK_FULL, Part.DATABASE)}
    return [target for target in (*STRIKES, *OFTEN) if target not in without]
