"""What was tried, what of it hit, and how long until buyers were answered again."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass

from figures import Spread, spread

from loadtest.chaos import columns
from loadtest.chaos.history import Fault
from loadtest.chaos.judge.story import Story
from loadtest.chaos.promised import Durability, cell
from loadtest.chaos.words import Answer

S = 1_000_000_000  # ns
SALES = frozenset({Answer.SOLD, Answer.HELD})
# An answer of a shop that can sell: it knows the stock.
ANSWERS = SALES | {Answer.SOLD_OUT, Answer.LIMIT, Answer.EXPIRED, Answer.GIVEN_BACK}


@dataclass(frozen=True, slots=True)
class Tried:
    """One column of the promises. `requests` and `unbooked` are those that it met.

    `again`: s from when it was mended to the next answer of a shop that can sell; only where a
    round went on.
    """

    fault: columns.Fault
    tried: int
    hits: int
    requests: int
    unbooked: int
    again: Spread | None
    promises: dict[str, tuple[str, ...]]  # what may be lost, in a word -> of which ways of selling


def name(fault: Fault) -> str:
    """As the JSON calls it."""
    return f"{fault.kind} {fault.where}"


def is_hit(fault: Fault) -> bool:
    """Did it meet a request under way, or a sale that was no order yet?"""
    return bool(fault.hit or fault.unbooked)


def counted(faults: list[Fault]) -> dict[str, int]:
    return dict(sorted(Counter(name(fault) for fault in faults).items()))


def tried(story: Story) -> list[Tried]:
    """Each column of which there was a fault."""
    calls = sorted(
        (op.at, op.until)
        for purchase in story.purchases.values()
        for op in purchase.ops
        if op.answer in ANSWERS
    )
    durability = Durability(story.run.durability)
    ways = sorted({of.begun.mode for of in story.rounds.values()})
    found = []
    for fault in columns.FAULTS:
        these = [one for one in story.faults if columns.column(one.kind, one.where) is fault]
        if not these:
            continue
        promises: dict[str, tuple[str, ...]] = {}
        for way in ways:
            word = cell(way, fault, durability).name
            promises[word] = (*promises.get(word, ()), way)
        found.append(
            Tried(
                fault,
                len(these),
                sum(map(is_hit, these)),
                sum(len(one.hit) for one in these),
                sum(one.unbooked for one in these),
                spread(_again(story, calls, one) for one in these),
                promises,
            )
        )
    return found


def _again(story: Story, calls: list[tuple[int, int]], fault: Fault) -> float | None:
    """None: no round that was on went on for a second."""
    ends = [of.over for of in story.rounds.values() if of.begun.called <= fault.until < of.over]
    if not ends or max(ends) < fault.until + S:
        return None
    asked = calls[bisect_left(calls, (fault.since, 0)) :]
    answers = (until for at, until in asked if fault.until <= until <= max(ends))
    first = min(answers, default=None)
    return None if first is None else (first - fault.until) / S
