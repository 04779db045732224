"""Random schedules, for properties that must hold for all of them."""

from __future__ import annotations

import random
from collections.abc import Iterator

from badluck.game.board import Board
from badluck.game.play import choices
from badluck.search.state import Transition

from app.explorer.targets import Target

STEPS = 25  # more than any purchase of two buyers has


def walks(target: str, many: int) -> Iterator[tuple[Board, str, list[Transition]]]:
    """Yield as many walks of two buyers, each as text and as transitions.

    The buyers have their process's own state only until the next walk is asked for.
    """
    whole = Target(target)
    with whole.surroundings():
        board = Board(whole, 2)
        for seed in range(many):
            chance = random.Random(f"{target} {seed}")  # the same in each run
            moves, ways = "", list[Transition]()
            while len(ways) < STEPS:
                found = choices(board, ways[-1].to if ways else 0)
                if not found:
                    break
                # Faults are half as likely as they would be: most would end the walk early.
                move, way = chance.choice(list(found.items()) + _without_faults(found))
                moves += move
                ways.append(way)
            yield board, moves, ways


def _without_faults(found: dict[str, Transition]) -> list[tuple[str, Transition]]:
    return [(move, way) for move, way in found.items() if way.kind in ("goes", "arrives", "time")]
