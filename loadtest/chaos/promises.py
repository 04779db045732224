"""Promises for each way of selling, each durability and each class of faults.

docs/promises.md is made from this, and every run of chaos is judged by it. A *loss* is a harm that
a buyer or the books may suffer; a cell without any says *nothing*. Losses that the judge can find
are anomalies; a `Nuisance` is a loss that the judge does not count as an anomaly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from loadtest.chaos.fault_classes import (
    DATABASE,
    DISK,
    FAILOVER,
    FREEZE,
    FRONT,
    KILL,
    LATE,
    LOST,
    OTHERS,
    POWER,
    STORE_DIES,
    FaultClass,
)
from loadtest.chaos.judge.anomalies import Anomaly


class Nuisance(StrEnum):
    DOUBT = "doubt"  # an error was answered, but it is bought; the same key finds it
    PATIENCE = "patience"  # BUSY again and again while others buy


Loss = Anomaly | Nuisance


class Durability(StrEnum):
    """When the store's answer is sent: see docs/settings.md."""

    FAST = "fast"  # written to the log, which is synced every second
    SAFE = "safe"  # synced to the disk
    REPLICATED = "replicated"  # synced, and a replica has confirmed it


FORGETFUL = {  # faults that make the store lose acknowledged writes
    Durability.FAST: {STORE_DIES, POWER, FAILOVER},
    Durability.SAFE: {FAILOVER},
    Durability.REPLICATED: set[FaultClass](),
}


@dataclass(frozen=True, slots=True)
class Promise:
    """Possible losses, in a word and in full, and their reason.

    `beyond`: why the page is more careful than the matrix, or less.
    """

    name: str = "nothing"
    may: frozenset[Loss] = frozenset()
    why: str = ""
    beyond: str = ""


NOTHING = Promise()
# Always kept: the audit is right, it finds nothing that no fault explains, no order becomes another
# buyer's, a buyer is told its order's own price and deadline, and no round sells before it opens.
ALWAYS = {Anomaly.MISJUDGED, Anomaly.STRANGER, Anomaly.ALARM}
ALWAYS |= {Anomaly.MISTOLD, Anomaly.UNOPENED}
AUDITED = frozenset(Anomaly) - ALWAYS - {Anomaly.STUCK}
EXHIBIT = Promise(
    "anything",
    AUDITED | {Anomaly.STUCK, Nuisance.DOUBT, Nuisance.PATIENCE},
    "an exhibit is broken on purpose. It promises only that the audit reports the damage, and that "
    "an order belongs to the buyer that pressed *Buy*",
    beyond="An exhibit is not tried for what it may keep by chance",
)
DOUBT = Promise(
    "doubt",
    frozenset({Nuisance.DOUBT}),
    "nothing is lost, but one lost or late message is enough to end a purchase with "
    '"we cannot tell". Another request with the same key gets the result',
)
OVERWRITE = frozenset(
    {
        *(Anomaly.OVERSOLD, Anomaly.SURPLUS, Anomaly.STRANDED, Anomaly.IMPOSSIBLE),
        *(Anomaly.OVER_LIMIT, Anomaly.LIMITED),
    }
)
OUTLIVED = Promise(
    "overwritten",
    OVERWRITE,
    "the lease ends while its holder is frozen, and other buyers sell or return units. Then the "
    "holder overwrites the number that they wrote to the stock: the holder's write does not check "
    "the lock's owner",
)
OVERTAKEN = Promise(
    "overtaken",
    OVERWRITE | {Nuisance.DOUBT},
    "a write arrives after its sender has given up, while another buyer holds the lock",
)
TAKEN = Promise(
    "stranded",
    frozenset({Anomaly.STRANDED}),
    "the purchase stops after it has taken the units and before it has recorded the sale",
)
TAKEN_IN_DOUBT = Promise(
    "stranded, doubt",
    TAKEN.may | {Nuisance.DOUBT},
    "the shop cannot tell whether the store took the units, or whether it recorded the sale",
)
FORGOTTEN = Promise(
    "forgotten",
    AUDITED,
    "the store has lost sales, and the shop sells their units again, until the database or a "
    "worker shows the loss. Then the shop ends the item's round",
)
SYNCED = (
    "The similar fault of the matrix, a failover, loses an acknowledged write; here the durability "
    "prevents that"
)
EVERY_SECOND = (
    "The matrix shows no loss when the store dies: its store always writes the log before it "
    "answers. With `fast` a real store may answer first"
)
KEPT = Promise(
    "kept",
    why="nothing is lost: every acknowledged sale is synced to the disk",
    beyond=SYNCED,
)
SEEN = Promise(
    "seen",
    frozenset({Anomaly.IMPOSSIBLE}),
    "no acknowledged sale is lost. But another buyer may get SOLD_OUT because of a sale that is "
    "not acknowledged yet. The failover may then lose this sale",
    beyond=SYNCED,
)
WAITS = Promise(
    "patience", frozenset({Nuisance.PATIENCE}), "another buyer's lock or write is always first"
)

# A way of selling that is not named here checks what it writes, at the moment it writes it.
CHECKED = {LOST: DOUBT, LATE: DOUBT, STORE_DIES: DOUBT}
LOCKED = {FREEZE: OUTLIVED, LOST: DOUBT, LATE: OVERTAKEN, STORE_DIES: DOUBT}
# By way of selling: the cells that are not *nothing*, at any durability.
LOSSES: dict[str, dict[FaultClass, Promise]] = {
    "watch": {LATE: DOUBT},  # both read again, and so know the outcome after a lost reply
    "watched": {},
    "decr": {
        KILL: TAKEN,
        DISK: TAKEN,
        LOST: TAKEN_IN_DOUBT,
        LATE: TAKEN_IN_DOUBT,
        STORE_DIES: TAKEN_IN_DOUBT,
    },
    "lock:db_unique": LOCKED | {DATABASE: OVERTAKEN},  # its lock is a row
}
FAIR = ("atomic", "decr", "fused", "lock:queue")  # no second step, or a line
EXHIBITS = (
    *("naive", "read_before_watch", "watch_elsewhere", "watched_blind"),
    *("lock:setnx", "lock:setnx_expire", "lock:getset", "lock:unowned", "lock:del_takeover"),
    "lock:watchdog_any",
)


def in_sql(way: str) -> bool:
    return way.startswith("sql")


def _losses(way: str) -> dict[FaultClass, Promise]:
    if in_sql(way):
        return {DATABASE: DOUBT}
    return LOSSES.get(way, LOCKED if way.startswith("lock:") else CHECKED)


def promise_for(way: str, fault: FaultClass, durability: Durability) -> Promise:
    """Return the promise for a `mode` or `mode:recipe`."""
    if way in EXHIBITS:
        return EXHIBIT
    if fault is FRONT:
        return DOUBT
    if fault is OTHERS:
        return NOTHING if way in FAIR else WAITS
    if in_sql(way):
        return _losses(way).get(fault, NOTHING)
    if fault in FORGETFUL[durability]:
        return replace(FORGOTTEN, beyond=EVERY_SECOND if fault is STORE_DIES else "")
    if fault in (POWER, FAILOVER):
        return SEEN if fault is FAILOVER else KEPT
    return _losses(way).get(fault, NOTHING)


def holding(way: str, fault: FaultClass, durability: Durability) -> Promise:
    """Return the promise for a round with holds: a payment is one more reply that may be lost."""
    promise = promise_for(way, fault, durability)
    lost = fault in (LOST, LATE, STORE_DIES) and not promise.may
    return DOUBT if lost and not in_sql(way) else promise


def says_what_is_left(way: str, holds: bool) -> bool:
    """Return whether SOLD_OUT and `left` are about the stock at one moment.

    A decr that took too much, and has not put it back yet, makes others see too little. A buyer
    that waits for locked rows does not see units that come back meanwhile.
    """
    return way.partition(":")[0] != "decr" and not (way == "sql_units" and holds)
