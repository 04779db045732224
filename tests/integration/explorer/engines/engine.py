"""A search through every order of the buyers' steps: by states in the model, or for real.

`counted.Counted` walks the state graph, `search.Search` runs each schedule on real servers.
What the two say of one target, buyers and faults must be the same: each is the other's judge.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, Protocol

from app.explorer.book import Book

CRASHED = "CRASHED"  # in place of what a buyer was told


class End(NamedTuple):
    """How a schedule ended."""

    told: tuple[str, ...]  # each buyer: his outcome, CRASHED, or "" when he waits for ever
    book: Book  # what the store says


class Endless(Exception):
    """More schedules than were allowed, or one that does not come to its end."""


class Engine(Protocol):
    def ends(self, most: int) -> Counter[End]:
        """For each way to end how many schedules do, `most` at the most. Raises Endless."""
