"""A search through every order of the buyers' steps: by states in the model, or for real.

`counted.Counted` walks the state graph, `search.Search` runs each schedule on real servers. Both
must return the same for one target, buyers and faults, so each checks the other.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, Protocol

from app.explorer.book import Book

CRASHED = "CRASHED"  # instead of a buyer's outcome


class End(NamedTuple):
    """How a schedule ended."""

    told: tuple[str, ...]  # each buyer: his outcome, CRASHED, or "" when he waits forever
    book: Book  # the store's content


class Endless(Exception):
    """More schedules than were allowed, or one that does not end."""


class Engine(Protocol):
    def ends(self, most: int) -> Counter[End]:
        """Count the schedules for each end, up to `most` schedules. Raises Endless."""
