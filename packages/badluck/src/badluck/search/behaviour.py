"""An actor's behaviour as the search uses it: nodes of its code, answers, and moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from badluck.actor.request import Done, Failed, Request, outcome
from badluck.frames.fingerprint import Fingerprint
from badluck.frames.source_position import SourceLine

ANY = -1  # in place of the clock: the code did not look at it


class ActorAnswer(NamedTuple):
    """The answer to one fiber's request, and its time."""

    fiber: int
    reply: Any
    now: int  # ms since 1970, or ANY
    taken: frozenset[int] | None = None  # its tokens that are in use; None: it did not matter


class Move(NamedTuple):
    """The effect of an answer: the next node, the connections that the code closed, and more."""

    to: int
    closed: tuple[str, ...]
    asks_time: bool = False  # does the code itself ask for the time?


@dataclass(slots=True)
class Node:
    """A state of an actor's code, after all answers so far."""

    requests: tuple[Request, ...]  # one a fiber
    parent: int  # -1: this is the beginning
    came_by: ActorAnswer | None
    looks: tuple[Fingerprint, ...]  # the fibers'
    inside: bool  # in a critical section
    waits_for_threads: bool  # its work is done, and its process would not end yet
    tells_time: bool  # compares times
    bound: tuple[str, ...]  # connections that have left state with their servers
    stands: tuple[tuple[SourceLine, ...], ...]  # the lines at which the fibers wait, for display
    moves: dict[ActorAnswer, Move] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        return isinstance(self.requests[0], Done | Failed)

    @property
    def outcome(self) -> str:
        """The outcome; "" as long as there is none."""
        return outcome(self.requests[0])


class Known(Protocol):
    """An actor's behaviour, as the search uses it."""

    @property
    def name(self) -> str: ...

    @property
    def nodes(self) -> Nodes:
        """Return the nodes; the first is the beginning."""

    @property
    def counts_time(self) -> bool:
        """Has it ever asked the clock? The time may then be kept anywhere."""

    def move(
        self, at: int, fiber: int, said: Any, now: int, taken: frozenset[int] | None = None
    ) -> Move:
        """Return the step from the node `at` when that fiber gets the answer `said`.

        `now` is in ms since 1970. `taken` are the numbers of its tokens that are in use; None: each
        token is a new one.
        """

    def same_again(self, at: int, to: int, round: Sequence[ActorAnswer]) -> bool:
        """Is the node to which these answers lead from `at` the same, except for the clock?"""

    def turn(
        self, at: int, fiber: int, said: Any, now: int, taken: frozenset[int] | None
    ) -> int | None:
        """Return when the same answer leads elsewhere, in ms since 1970; None: not until the
        LATEST.
        """

    def history(self, at: int) -> list[ActorAnswer]:
        """Return the answers that lead to the node `at`, from the beginning."""


class Nodes(Protocol):
    def __getitem__(self, at: int, /) -> Node: ...
