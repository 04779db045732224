"""The search against all permutations, and on lists whose answer is known."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations
from secrets import randbelow

import pytest

from loadtest.chaos.judge.linearize import linearize
from loadtest.chaos.judge.moves import NEVER, Move
from tests.unit.chaos.possible_order import is_possible


def by_permutations(moves: list[Move], stock: int) -> bool:
    """No reduction at all: every order of every choice of the optional moves."""
    due = [one for one, move in enumerate(moves) if move.due]
    others = [one for one, move in enumerate(moves) if not move.due]
    for bits in range(1 << len(others)):
        chosen = due + [one for place, one in enumerate(others) if bits >> place & 1]
        if any(is_possible(moves, stock, order) for order in permutations(chosen)):
            return True
    return False


def some_moves(seed: int) -> tuple[list[Move], int]:
    """Return takes, gives (some of an own take), looks, some of them optional; rarely possible."""
    rng = random.Random(seed)
    stock = rng.randint(1, 4)
    most = rng.choice([1, 1, 2, 3])
    moves: list[Move] = []
    while len(moves) < rng.randint(3, 7):
        since = rng.randint(0, 12)
        until = since + rng.randint(0, 8) if rng.random() < 0.7 else NEVER
        units = rng.randint(1, most)
        kind = rng.random()
        if kind < 0.25:
            left = rng.randint(0, stock)
            low = 0 if rng.random() < 0.3 else left
            moves.append(Move(0, since, min(until, since + 6), low, left))
        elif kind < 0.5:
            left = rng.randint(0, stock)
            exact = (left, left) if rng.random() < 0.6 else (0, NEVER)
            looks = [place for place, move in enumerate(moves) if not move.delta]
            before = rng.choice([-1, *looks])
            moves.append(Move(-units, since, until, *exact, after=before))
        elif kind < 0.65:
            due = rng.random() < 0.5
            moves.append(Move(-units, since, until if due else NEVER, due=due))
        elif kind < 0.75:
            due = rng.random() < 0.5
            moves.append(Move(units, since, until if due else NEVER, due=due))
        else:
            due = rng.random() < 0.5
            take = Move(-units, since, until if due else NEVER, due=due)
            moves.append(take)
            later = since + rng.randint(0, 6)
            moves.append(Move(units, later, after=len(moves) - 1, due=False))
    return moves[:7], stock


def agrees(seed: int) -> bool:
    """Does the search agree with all permutations on whether there is an order?"""
    moves, stock = some_moves(seed)
    found = linearize(moves, stock)
    expected = by_permutations(moves, stock)
    assert found.linearizable is expected, f"seed {seed}: {stock} {moves}"
    if found.linearizable:
        assert is_possible(moves, stock, found.order), f"seed {seed}"
    return expected


@pytest.mark.parametrize("part", range(8))
def test_it_says_what_all_permutations_say(part: int) -> None:
    answers = [agrees(seed) for seed in range(part * 60, part * 60 + 60)]
    assert 10 < sum(answers) < 50, "lists of one answer would prove little"


@pytest.mark.soak
def test_and_so_it_does_of_lists_that_nobody_has_seen(runs: int) -> None:
    begin = randbelow(1_000_000_000)
    assert sum(agrees(seed) for seed in range(begin, begin + 200 * runs))


def maybe(since: int, back: int, place: int) -> list[Move]:
    """Return moves of a unit that may be held from `since` to `back`; the take is at `place`."""
    return [Move(-1, since, due=False), Move(1, back, after=place, due=False)]


SEEN = [Move(0, 1, 1, 0, 0), Move(0, 3, 3, 1, 1)]  # none left, and a moment later one
# Of two that may have been held, the search begins with the one of which nothing is the later.
LISTS = [
    ("the second one, as the first comes back too late", [*maybe(0, 9, 0), *maybe(0, 2, 2)], True),
    ("the first one, as the second began too late", [*maybe(0, 2, 0), *maybe(2, 2, 2)], True),
    ("neither: both come back too late", [*maybe(0, 9, 0), *maybe(0, 9, 2)], False),
    ("neither: both began too late", [*maybe(2, 2, 0), *maybe(2, 2, 2)], False),
    (
        "the one that need not, as the one that has to is never given back",
        [Move(-1, 0, 9), *maybe(0, 2, 1)],
        True,
    ),
]


@pytest.mark.parametrize(("why", "moves", "expected"), LISTS, ids=[why for why, *_ in LISTS])
def test_which_of_two_it_was(why: str, moves: list[Move], expected: bool) -> None:
    for order in (moves, [*moves[2:4], *moves[:2], *moves[4:]]):
        if order is not moves:
            if len(moves) != 4:
                continue
            order = [replace(one, after={-1: -1, 0: 2, 2: 0}[one.after]) for one in order]
        whole = [*order, *SEEN]
        assert by_permutations(whole, 1) is expected, why
        assert linearize(whole, 1).linearizable is expected, why
