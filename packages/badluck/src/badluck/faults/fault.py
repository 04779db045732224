"""The interface of a fault: its effect on a state, how it is replayed, and its words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Literal, Protocol

from badluck.actor.actor import Actor
from badluck.backend import Backend
from badluck.search.graph import Graph
from badluck.search.state import FaultEffect, SystemState

Tells = Literal["nothing", "duration", "command", "command and reply"]
StepText = tuple[list[str], list[str]]  # commands, a line each, and their replies


class FaultContext(Protocol):
    """A schedule that is played, up to the step of a fault."""

    @property
    def backend(self) -> Backend: ...

    @property
    def actor(self) -> Actor:
        """The actor that it hits; only for a fault that hits one."""

    @property
    def now(self) -> int:
        """ms since 1970, when the step is done."""

    def go_on(self, answered: bool = True) -> StepText:
        """Let the actor take its step; without an answer, its connection breaks."""

    def give_up(self) -> StepText:
        """The same, but its command stays in flight."""


class Fault(ABC):
    """One kind of fault. CONTRIBUTING lists what else a new kind needs."""

    name: ClassVar[str]
    letter: ClassVar[str]  # its letter in a short schedule
    meaning: ClassVar[str]  # one line of help
    drawn: ClassVar[str]  # in a chart; {} is how long it takes
    befalls_one: ClassVar[bool] = True  # one actor, not all of them
    tells: ClassVar[Tells] = "nothing"  # what a chart shows of such a step
    ends_its_actor: ClassVar[bool] = False
    forgets: ClassVar[bool] = False  # loses the last write

    @abstractmethod
    def apply(self, graph: Graph, state: SystemState) -> Iterator[FaultEffect]:
        """Yield all effects that it can have on this state of the search."""

    @abstractmethod
    def play(self, playing: FaultContext) -> StepText | None:
        """Do it to actors and servers; return None when no command was sent."""
