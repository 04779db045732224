"""The classes of faults for which the page of promises has a row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from loadtest.chaos.history import Kind, Part


@dataclass(frozen=True, slots=True)
class FaultClass:
    """A column. `name` and `of` are the page's words; `like` is the matrix' column, "" for none."""

    name: str
    of: str
    deeds: frozenset[tuple[Kind, Part]]
    like: str = ""


def _all(kinds: Iterable[Kind], *where: Part) -> frozenset[tuple[Kind, Part]]:
    return frozenset((kind, place) for kind in kinds for place in where)


WIRE = (Kind.SWALLOW, Kind.CUT, Kind.DELAY, Kind.HALF_OPEN)
NONE = FaultClass("no fault", "nothing is broken", frozenset(), "no fault")
KILL = FaultClass(
    "a process dies",
    "SIGKILL to a worker, to all workers, or to fulfil, which moves sales to the database",
    _all([Kind.KILL], Part.WORKER, Part.SHOP, Part.FULFIL),
    "1 crash",
)
FREEZE = FaultClass(
    "a process freezes",
    "SIGSTOP to a worker or fulfil, for longer than every lease",
    _all([Kind.FREEZE], Part.WORKER, Part.SHOP, Part.FULFIL),
    "2 pauses",
)
LOST = FaultClass(
    "a reply is lost",
    "the store's reply is dropped, or the connection to the store is cut",
    _all([Kind.SWALLOW, Kind.CUT], Part.STORE),
    "1 lost reply",
)
LATE = FaultClass(
    "a command comes late",
    "the connection to the store is slow or blocked for a while, or the store is frozen",
    _all([Kind.DELAY, Kind.HALF_OPEN], Part.STORE) | _all([Kind.FREEZE], Part.STORE),
    "1 late command",
)
STORE_DIES = FaultClass(
    "the store dies",
    "SIGKILL to the store's server, which then starts again with its log",
    _all([Kind.KILL], Part.STORE),
    "1 lost reply",
)
POWER = FaultClass(
    "the power fails",
    "the store starts again with a log that ends at its last sync to the disk",
    _all([Kind.LOG_CUT], Part.STORE),
    "1 failover",
)
FAILOVER = FaultClass(
    "a failover",
    "a replica that lacks the last writes becomes the store",
    _all([Kind.FAILOVER], Part.STORE, Part.REPLICA),
    "1 failover",
)
DATABASE = FaultClass(
    "the database is away",
    "the database is killed or frozen, or the connection to it is cut, slow or blocked",
    _all([Kind.KILL, Kind.FREEZE, *WIRE], Part.DATABASE),
)
FRONT = FaultClass(
    "the buyer's network",
    "between buyer and shop, answers are lost, or connections are cut, slow or blocked",
    _all(WIRE, Part.SHOP),
)
BEHIND = FaultClass(
    "fulfil is cut off",
    "between fulfil and the store, answers are lost, or connections are cut, slow or blocked",
    _all(WIRE, Part.FULFIL),
)
REPLICA = FaultClass(
    "the replica is away",
    "the store's replica is killed or frozen",
    _all([Kind.KILL, Kind.FREEZE], Part.REPLICA),
)
DISK = FaultClass(
    "a disk is full",
    "the disk of the store or of the database is full",
    _all([Kind.DISK_FULL], *Part),
)
CLOCK = FaultClass("a clock is wrong", "a worker's clock jumps by hours", _all([Kind.CLOCK], *Part))
SWITCH = FaultClass(
    "a switch", "a new round starts, in another mode, while buyers buy", _all([Kind.SWITCH], *Part)
)
OTHERS = FaultClass(
    "others come again", "no fault, and many buyers", frozenset(), "others come again"
)

FAULTS = (
    NONE, KILL, FREEZE, LOST, LATE, STORE_DIES, POWER, FAILOVER, DATABASE, FRONT, BEHIND, REPLICA,
    DISK, CLOCK, SWITCH, OTHERS,
)  # fmt: skip


def classify(kind: Kind, where: Part) -> FaultClass:
    """Return the class of a fault.

    Raises LookupError for a fault about which nothing is promised.
    """
    for fault in FAULTS:
        if (kind, where) in fault.deeds:
            return fault
    raise LookupError(f"Nothing is promised for a {kind} of the {where}.")
