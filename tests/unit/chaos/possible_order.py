"""The definition of a possible order, against which the search is tried."""

from __future__ import annotations

from collections.abc import Sequence

from loadtest.chaos.judge.moves import NEVER, Move


def is_possible(moves: Sequence[Move], stock: int, order: Sequence[int]) -> bool:
    """Is this order of (some of) the moves one that the definition of a Move allows?

    There are moments for an order, one after the other, just if none has to be over before one
    that stands earlier in it has begun.
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
