"""Excuses: the anomalies that the faults in a round explain, by purchase and number of units.

A fault explains an anomaly of a purchase only if it can have met one of its requests: from some
time before the fault (writes that the store may lose) until shortly after it (a process that wakes
up, a command that comes late). A purchase that is held is met until its hold has ended, too. For a
whole round, it explains at most as many units as these purchases wanted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from loadtest.chaos.fault_classes import NONE, FaultClass, classify
from loadtest.chaos.history import InjectedFault
from loadtest.chaos.judge.anomalies import Anomaly, Detection
from loadtest.chaos.judge.reconstruction import (
    PlayedRound,
    Purchase,
    RunHistory,
    last_effect,
)
from loadtest.chaos.promises import FORGETFUL, Durability, Loss, promise_for

MS, S = 1_000_000, 1_000_000_000  # ns
# How old the oldest write can be that such a fault makes the store lose. With `fast` the log is
# synced once a second, later on a busy disk; a replica is some milliseconds behind.
LOST_WRITES = {Durability.FAST: 3 * S, Durability.SAFE: S}
AFTERMATH = 2 * S  # after a fault: delayed commands arrive, thawed processes write, holds end
OF_UNITS = {Anomaly.OVERSOLD, Anomaly.STRANDED, Anomaly.SURPLUS, Anomaly.HELD_ON}


class FaultInRound(NamedTuple):
    """A fault that can have reached a round; its class, and the losses that may follow from it."""

    event: InjectedFault
    of: FaultClass
    may: frozenset[Loss]


@dataclass(frozen=True, slots=True)
class Excuse:
    """One fault's. Without a fault it is an exhibit's: `purchases` None is any of the round."""

    may: frozenset[Loss]
    purchases: tuple[Purchase, ...] | None = None
    fault: FaultInRound | None = None

    def covers(self, detection: Detection, buyer: str) -> bool:
        """Return whether it explains the detection; `buyer` is that of its key, if it has one."""
        if detection.wrong not in self.may:
            return False
        if self.purchases is None:
            return True
        if detection.wrong in OF_UNITS:
            return detection.count <= sum(purchase.units for purchase in self.purchases)
        if detection.wrong in (Anomaly.LIMITED, Anomaly.OVER_LIMIT):
            return any(buyer in ("", purchase.buyer) for purchase in self.purchases)
        return any(detection.key in ("", purchase.key) for purchase in self.purchases)

    @property
    def harms(self) -> bool:
        """Return whether it explains any anomaly at all."""
        met = self.purchases is None or bool(self.purchases)
        return met and any(isinstance(loss, Anomaly) for loss in self.may)


def list_faults(history: RunHistory, of: PlayedRound) -> list[FaultInRound]:
    """Return the faults between a round's start and its last audit."""
    durability = Durability(history.run.durability)
    faults = []
    for event in history.faults:
        reaches = not event.items or of.begun.item in event.items
        over = of.audited and event.since > of.audited.at
        if reaches and not over and event.until >= of.begun.called:
            fault = classify(event.kind, event.where)
            promise = promise_for(of.begun.mode, fault, durability)
            faults.append(FaultInRound(event, fault, promise.may))
    return faults


def list_excuses(
    history: RunHistory, of: PlayedRound, faults: Iterable[FaultInRound]
) -> list[Excuse]:
    durability = Durability(history.run.durability)
    always = promise_for(of.begun.mode, NONE, durability).may
    excuses = [Excuse(always)] if always else []
    for fault in faults:
        before = LOST_WRITES[durability] if fault.of in FORGETFUL[durability] else 0
        since, until = fault.event.since - before, fault.event.until + AFTERMATH
        met = (each for each in of.near if _meets(history, of, each, since, until))
        excuses.append(Excuse(fault.may, tuple(met), fault))
    return excuses


def forgets(history: RunHistory, of: PlayedRound) -> bool:
    """Return whether the store can have lost writes by the time of the round's last audit.

    A loss may be noticed rounds later, by a worker that had seen what is gone.
    """
    forgetful = FORGETFUL[Durability(history.run.durability)]
    return any(
        classify(event.kind, event.where) in forgetful
        for event in history.faults
        if of.audited and event.since <= of.audited.at
    )


def _meets(
    history: RunHistory, of: PlayedRound, purchase: Purchase, since: int, until: int
) -> bool:
    held, late = (of.begun.hold or 0) * MS, history.run.late
    return any(op.at <= until and last_effect(op, late) + held >= since for op in purchase.ops)
