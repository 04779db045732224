"""Rounds of a search, from the likeliest to the least likely: so many actors, so many faults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from badluck.faults import NONE, Faults

ANY = "any"  # in place of faults: two of any kind
TOGETHER = 2  # faults that are tried one by one before the whole budget is
TWO_OF_EACH = Faults(*[TOGETHER for _ in Faults._fields])


class SearchRound(NamedTuple):
    """One search: all orders of so many actors' steps, with up to so many faults of each kind."""

    actors: int
    faults: Faults

    def within(self, other: SearchRound) -> bool:
        """Does a complete search of the other round cover this one?"""
        pairs = zip(self.faults, other.faults, strict=True)
        return self.actors == other.actors and all(mine <= its for mine, its in pairs)

    def __str__(self) -> str:
        counts = [f"{count} {kind}" for kind, count in self.faults._asdict().items() if count]
        *some, last = counts or ["no fault"]
        return f"{self.actors} with {' and '.join(filter(None, [', '.join(some), last]))}"


def plan_rounds(counts: Sequence[int], faults: str = NONE) -> tuple[SearchRound, ...]:
    """Return rounds up to `faults` (`crash=1,pause=1`, or ANY) with each of the `counts` of actors.

    Rounds without a fault come first, then those with one, then those with two. Raises BadluckError
    for an invalid budget.
    """
    if faults == ANY:
        return _sorted_rounds(counts, _few(TWO_OF_EACH))
    budget = Faults.parse(faults)
    return _sorted_rounds(counts, [*_few(budget), budget])


def _few(most: Faults) -> Iterator[Faults]:
    """Yield budgets of up to TOGETHER faults, kinds that are named first before others."""
    budgets = [Faults(*counts) for counts in product(*(range(many + 1) for many in most))]
    return (budget for budget in reversed(budgets) if sum(budget) <= TOGETHER)


def _sorted_rounds(counts: Sequence[int], budgets: Iterable[Faults]) -> tuple[SearchRound, ...]:
    rungs = [SearchRound(*pair) for pair in product(counts, dict.fromkeys(budgets))]
    return tuple(sorted(rungs, key=lambda rung: (sum(rung.faults), rung.actors)))


def starting_order(rungs: Sequence[SearchRound]) -> list[int]:
    """Return the order in which to begin them, where several are searched at once.

    The last takes longest. If it begins when all with one fault are running, it ends with the
    others.
    """
    early = sum(sum(rung.faults) <= 1 for rung in rungs[:-1])
    return [*range(early), len(rungs) - 1, *range(early, len(rungs) - 1)]


def maximal(rungs: Sequence[SearchRound]) -> list[SearchRound]:
    """Return the rounds that are not within another."""
    return [
        rung
        for nth, rung in enumerate(rungs)
        if not any(rung.within(other) for other in rungs[nth + 1 :])
    ]


def next_round(proved: Sequence[SearchRound]) -> SearchRound | None:
    """Return the first round that is not within them, with as many actors; None: no likely one is
    left.
    """
    counts = sorted({rung.actors for rung in proved})
    rounds = plan_rounds(counts, ANY)
    return next((candidate for candidate in rounds if not any(map(candidate.within, proved))), None)
