"""The definition of a possible order, with which the search is tested."""

from __future__ import annotations

from collections.abc import Sequence

from loadtest.chaos.judge.moves import NEVER, Move


def is_possible(moves: Sequence[Move], stock: int, order: Sequence[int]) -> bool:
    """Is this order of (some of) the moves one that the definition of a Move allows?

    The moves can happen in this order unless one of them must end before an earlier one in it has
    begun.
    """
    free, begun, done = stock, -NEVER, set[int]()
    for index in order:
        move = moves[index]
        begun = max(begun, move.since)
        if begun > move.until or not move.fits(free) or move.after not in done | {-1}:
            return False
        free += move.delta
        done.add(index)
    return all(index in done for index, move in enumerate(moves) if move.due)
