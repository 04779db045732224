"""Search for blind moves that bring the free units to where an anchor needs them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd

from loadtest.chaos.judge.move_dominance import MoveDominance

Counts = tuple[int, ...]  # how many of each kind; a kind is a delta


class BudgetExhausted(Exception):
    """Raised when a search has used its budget."""


@dataclass(slots=True)
class SearchBudget:
    """The remaining budget of a search: configurations, and sums tried between them."""

    left: int

    def pay(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise BudgetExhausted


def find_subsets(
    dominance: MoveDominance, ready: Sequence[int], low: int, high: int, budget_left: SearchBudget
) -> Iterator[tuple[int, ...]]:
    """Yield sets of moves of `ready` whose deltas add up to `low` … `high`.

    Gives come before takes. No give and take of one set cancel each other (2), and of equal moves
    those that are over first are used first (3). Raises BudgetExhausted.
    """
    if low <= 0 <= high:
        yield ()
        return
    kinds: dict[int, list[int]] = {}
    for index in ready:
        kinds.setdefault(dominance.moves[index].delta, []).append(index)
    deltas = sorted(kinds, reverse=True)
    for counts in _counts(deltas, [len(kinds[delta]) for delta in deltas], low, high, budget_left):
        choices = [
            list(_firsts(dominance, dominance.sorted(kinds[delta]), count))
            for delta, count in zip(deltas, counts, strict=True)
        ]
        for choice in product(*choices):
            yield tuple(index for some in choice for index in some)


def _counts(
    deltas: list[int], there: list[int], low: int, high: int, budget_left: SearchBudget
) -> Iterator[Counts]:
    """Yield how many moves of each kind to use.

    It adds gives while too few units are free, and takes while too many are: every sum in range can
    be reached in such an order. A search path ends as soon as the sum is in range.
    """
    visited: set[Counts] = set()
    stack: list[tuple[Counts, int]] = [((0,) * len(deltas), 0)]
    while stack:
        counts, total = stack.pop()
        if low <= total <= high:
            yield counts
            continue
        goal = low if total < low else high
        nearest = sorted(range(len(deltas)), key=lambda kind: -abs(goal - total - deltas[kind]))
        for kind in nearest:  # the last one that is put on the stack is the first to be tried
            delta = deltas[kind]
            if counts[kind] == there[kind] or (delta > 0) != (total < low):
                continue
            more = (*counts[:kind], counts[kind] + 1, *counts[kind + 1 :])
            if more not in visited and not _idle(deltas, more):
                budget_left.pay()
                visited.add(more)
                stack.append((more, total + delta))


def _idle(deltas: list[int], counts: Counts) -> bool:
    """Return whether some of them add up to nothing."""
    used = [(delta, count) for delta, count in zip(deltas, counts, strict=True) if count]
    return any(
        count >= -down // gcd(up, down) and other >= up // gcd(up, down)
        for up, count in used
        if up > 0
        for down, other in used
        if down < 0
    )


def _firsts(dominance: MoveDominance, equal: list[int], count: int) -> Iterator[tuple[int, ...]]:
    """Yield `count` equal moves: none without the moves that dominate it (3)."""
    if not count:
        yield ()
        return
    if len(equal) < count:
        return
    first, rest = equal[0], equal[1:]
    for others in _firsts(dominance, rest, count - 1):
        yield (first, *others)
    yield from _firsts(
        dominance, [index for index in rest if not dominance.before(first, index)], count
    )
