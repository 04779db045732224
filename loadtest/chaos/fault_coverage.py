"""Faults by class: how many were injected, how many hit, how long until buyers got answers."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass

from figures import Spread, spread

from loadtest.chaos.fault_classes import FAULTS, FaultClass, classify
from loadtest.chaos.history import InjectedFault, Reply
from loadtest.chaos.judge.reconstruction import RunHistory
from loadtest.chaos.promises import Durability, promise_for

S = 1_000_000_000  # ns
SALES = frozenset({Reply.SOLD, Reply.HELD})
# An answer of a shop that can sell: it knows the stock.
ANSWERS = SALES | {Reply.SOLD_OUT, Reply.LIMIT, Reply.EXPIRED, Reply.GIVEN_BACK}


@dataclass(frozen=True, slots=True)
class FaultCoverage:
    """One column of the promises. `requests` and `unbooked` were under way when a fault hit.

    `again`: s from the repair to the next answer of a shop that can sell; only if a round
    continued.
    """

    fault: FaultClass
    injected: int
    hits: int
    requests: int
    unbooked: int
    again: Spread | None
    promises: dict[str, tuple[str, ...]]  # loss, in a word -> ways of selling that risk it


def name(fault: InjectedFault) -> str:
    """Return the fault's name in the JSON document."""
    return f"{fault.kind} {fault.where}"


def is_hit(fault: InjectedFault) -> bool:
    """Return whether it hit a request under way, or a sale that was no order yet."""
    return bool(fault.hit or fault.unbooked)


def count_by_name(faults: list[InjectedFault]) -> dict[str, int]:
    return dict(sorted(Counter(name(fault) for fault in faults).items()))


def measure_coverage(history: RunHistory) -> list[FaultCoverage]:
    """Return each column that had a fault."""
    calls = sorted(
        (op.at, op.until)
        for purchase in history.purchases.values()
        for op in purchase.ops
        if op.answer in ANSWERS
    )
    durability = Durability(history.run.durability)
    modes = sorted({of.begun.mode for of in history.rounds.values()})
    coverage = []
    for fault in FAULTS:
        these = [event for event in history.faults if classify(event.kind, event.where) is fault]
        if not these:
            continue
        promises: dict[str, tuple[str, ...]] = {}
        for mode in modes:
            word = promise_for(mode, fault, durability).name
            promises[word] = (*promises.get(word, ()), mode)
        coverage.append(
            FaultCoverage(
                fault,
                len(these),
                sum(map(is_hit, these)),
                sum(len(event.hit) for event in these),
                sum(event.unbooked for event in these),
                spread(_again(history, calls, event) for event in these),
                promises,
            )
        )
    return coverage


def _again(history: RunHistory, calls: list[tuple[int, int]], fault: InjectedFault) -> float | None:
    """Return s until the next answer; None: no round ran for another second."""
    ends = [of.over for of in history.rounds.values() if of.begun.called <= fault.until < of.over]
    if not ends or max(ends) < fault.until + S:
        return None
    later_calls = calls[bisect_left(calls, (fault.since, 0)) :]
    answers = (until for at, until in later_calls if fault.until <= until <= max(ends))
    first = min(answers, default=None)
    return None if first is None else (first - fault.until) / S
