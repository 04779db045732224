"""Dominance between equal moves: which of two is done first, see (3) in linearize."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loadtest.chaos.judge.moves import Move


class MoveDominance:
    """Knows each linked take's give. Compared moves have the same delta, low and high."""

    def __init__(self, moves: Sequence[Move]) -> None:
        self.moves = moves
        self.gives: dict[int, int] = {}  # linked takes -> their gives
        for index, move in enumerate(moves):
            if move.delta > 0 and move.after >= 0 and move.since <= moves[move.after].until:
                self.gives[move.after] = index

    def linked(self, index: int) -> bool:
        return index in self.gives

    def sorted(self, alike: Iterable[int]) -> list[int]:
        """Sort so that a dominating move comes before those that it dominates.

        A move that is not due cannot replace one that is due: it is never over, and so comes last.
        """
        moves = self.moves

        def place(index: int) -> tuple[int, bool, bool, int, int]:
            move = moves[index]
            return (move.until, not move.due, not self.linked(index), move.since, index)

        return sorted(alike, key=place)

    def before(self, first: int, index: int) -> bool:
        """Return whether `first`, which is sorted before it, can always be done in its place."""
        if not self.linked(index):
            return True
        if not self.linked(first):
            return False
        return self.moves[self.gives[first]].since <= self.moves[self.gives[index]].since

    def firsts(self, alike: Iterable[int]) -> list[int]:
        """Return the moves that no other dominates."""
        undominated: list[int] = []
        for index in self.sorted(alike):
            if not any(self.before(first, index) for first in undominated):
                undominated.append(index)
        return undominated
