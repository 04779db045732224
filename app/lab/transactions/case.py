"""One lesson about MULTI, played in both servers' own words.

A case reports what it *read*: its conclusion is made from the replies. Next to it is the conclusion
that is taught; where the two differ, the server is right and the command says so. Every case begins
with a stock of 3. A and B are two connections, and `side.stock()` reads from outside, over a third.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from app.lab.transactions.sides import Postgres, Valkey
from app.text import Text


class Case(ABC):
    """One lesson; `teaches` is the sentence that it tests."""

    name: ClassVar[str]
    title: ClassVar[Text]
    teaches: ClassVar[Text]
    taught: ClassVar[tuple[Text, Text]]  # what `valkey` and `postgres` ought to find

    @abstractmethod
    def valkey(self, side: Valkey) -> str:
        """Play it on Valkey; returns the conclusion."""

    @abstractmethod
    def postgres(self, side: Postgres) -> str:
        """Play it on PostgreSQL; returns the conclusion."""


def fate(before: str, after: str) -> str:
    """Return the fate of a write, from the value before it and after everything."""
    return "is not there" if before == after else "stands"
