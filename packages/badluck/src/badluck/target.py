"""The interface of a target, for search, judge, trace and replay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from badluck.actor.actor import Code
from badluck.model.values import Command, Entry
from badluck.rule import Rule

EPOCH = 1_900_000_000_000  # ms since 1970: when every schedule begins
ACTORS = (2, 4)  # the least and the most that a caller may choose
Shown = dict[str, int | str]  # by column, in their order; "" where there is nothing to show


class StoredLock(NamedTuple):
    """A lock that is held."""

    value: bytes
    ends: bool  # by itself
    until: int | None = None  # ms since 1970, where the store says so


class StoreView(Protocol):
    """A target's view of the store; its own rules know more fields."""

    @property
    def lock(self) -> StoredLock | None: ...


class Vocabulary(NamedTuple):
    """Terms for charts and sentences about a target."""

    actor: str = "actor"
    fiber_kind: str = "thread"  # the word for an actor's further fibers
    charted: tuple[str, ...] | None = None  # columns of a chart; None: all that is shown
    # Text for an actor that starts again: in the chart of that step, and as the result.
    refilled: str = "all is as it was at first"
    restored: str = "to what it found at first"


PLAIN = Vocabulary()


class Target(Protocol):
    """A target of a search: code, the servers that it finds, and its rules."""

    @property
    def name(self) -> str: ...

    @property
    def code(self) -> Code: ...

    @property
    def rules(self) -> Sequence[Rule]:
        """Return the rules, the gravest first."""

    @property
    def pauses(self) -> Sequence[int]:
        """Return pauses in ms: each longer than some leases, the last longer than any."""

    @property
    def locks(self) -> bool:
        """Does a lock alone keep the others out of the critical section?"""

    @property
    def alike(self) -> bool:
        """Does its code use an actor's name only to compare two?"""

    @property
    def names_follow(self) -> Sequence[bytes]:
        """Return the prefixes of names in alike actors' commands and keys, such as `order-`.

        They come on top of the tokens and UUIDs that badluck gives the actors.
        """

    @property
    def reuse_tokens(self) -> bool:
        """Does it draw a token for each try, keep only the last, and show them only to servers?"""

    @property
    def lock_key(self) -> bytes | None:
        """Return the lock's key, if it is known beforehand."""

    @property
    def gave_up(self) -> str | None:
        """Return the outcome of an actor that has given up; None: each retries forever."""

    @property
    def vocabulary(self) -> Vocabulary: ...

    @property
    def setting(self) -> str:
        """Return the initial state, for people: `3 tickets`."""

    def identity(self) -> dict[str, Any]:
        """Return the members of a saved file that identify the target."""

    def terms(self) -> dict[str, Any]:
        """Return the members of a saved file that describe the setting."""

    def surroundings(self) -> AbstractContextManager[object]:
        """Apply the process patches of its actors, while they run."""

    def setup(self) -> list[list[Command]]:
        """Return the first commands of each server. The first server is the store."""

    def book(self, entries: dict[bytes, Entry], *others: dict[bytes, Entry]) -> StoreView:
        """Read the store's keys, and those of the other servers."""

    def moments(self, entries: dict[bytes, Entry]) -> Iterable[int]:
        """Return times of which only the store's values tell, in ms since 1970.

        The store itself knows when a key expires.
        """

    def shown(self, book: Any) -> Shown:
        """Return the values to show of a `book`: in charts, on pages and in saved files."""

    def filled_up(self, entries: dict[bytes, Entry]) -> dict[bytes, Entry]:
        """Return the keys as at the beginning, for an actor that starts again; locks stay as they
        are.
        """
