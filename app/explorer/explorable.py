"""What the search, the judge, a trace and a replay need to know of what is explored."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

from app.explorer.buyer import Buyer
from app.explorer.model.server import Server
from app.explorer.model.values import Command, Entry
from app.explorer.targets import Book

# What may be asked for, at the least and at the most.
BUYERS = (2, 4)
UNITS = (1, 10)


class Named(Protocol):
    @property
    def id(self) -> str: ...


class Explorable(Protocol):
    """`targets.Target` is one of the project's modes, `student.Student` somebody's own file."""

    @property
    def name(self) -> str: ...
    @property
    def stock(self) -> int: ...
    @property
    def quantity(self) -> int:
        """Units that each buyer wants."""

    @property
    def think(self) -> int:
        """ms that a buyer waits between reading and writing."""

    @property
    def resend(self) -> bool:
        """As redis-py does by default."""

    @property
    def pause(self) -> int:
        """ms that are longer than any lease."""

    @property
    def locks(self) -> bool:
        """Does a recipe alone keep the others out?"""

    @property
    def alike(self) -> bool:
        """Does its code ask nothing of a buyer's name but whether two are the same?"""

    @property
    def frugal(self) -> bool:
        """Draws a token for each try, keeps but the last, and shows them to nobody but servers."""

    @property
    def lock_key(self) -> bytes | None:
        """Where the lock stands, if that is known beforehand."""

    def identity(self) -> dict[str, Any]:
        """What a file of schedules says of it, so that it is found again."""

    def surroundings(self) -> AbstractContextManager[None]:
        """What its buyers have of their own, while they run."""

    def setup(self) -> list[list[Command]]:
        """What each server is told first."""

    def servers(self) -> list[Server]:
        """The model's, at the beginning."""

    def order(self, buyer: str) -> Named: ...

    def work(self, buyer: Buyer) -> str:
        """One purchase. Answers the outcome."""

    def book(self, entries: dict[bytes, Entry]) -> Book: ...

    def filled_up(self, entries: dict[bytes, Entry]) -> dict[bytes, Entry]:
        """The shelf as at the beginning, and no trace of a sale; locks stay as they are."""
