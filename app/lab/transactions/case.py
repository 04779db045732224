"""One thing taught about MULTI, played in both servers' own words.

A case says what it *read*: its conclusion is made of the replies. Beside it stands what is taught;
where the two differ, the server is right and the command says so. Every case begins with a stock
of 3; A and B are two connections, and `side.stock()` is a look from outside, by a third.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from app.lab.transactions.sides import Postgres, Valkey
from app.text import Text


class Case(ABC):
    """`teaches` is the sentence that it puts to the test."""

    name: ClassVar[str]
    title: ClassVar[Text]
    teaches: ClassVar[Text]
    taught: ClassVar[tuple[Text, Text]]  # what `valkey` and `postgres` ought to find

    @abstractmethod
    def valkey(self, side: Valkey) -> str:
        """Play it; returns the conclusion."""

    @abstractmethod
    def postgres(self, side: Postgres) -> str:
        """Play it; returns the conclusion."""


def fate(before: str, after: str) -> str:
    """What became of a write, seen from the value before it and after all."""
    return "is not there" if before == after else "stands"
