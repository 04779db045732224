"""Every order of two buyers' statements, as a graph whose every way was gone live.

Two beginnings are one state when they differ only in the turn of steps that do not concern each
other: then each buyer has been answered the same, and the database stands the same. That is looked
after: when a second beginning leads to a state that is known, all that can be seen must be equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from badluck.report.trace import Step
from badluck.search.state import Transition
from badluck.search.state_table import TooMany

from app.domain import ShopError
from app.explorer.book import Book
from app.explorer.sql.stage import Stage, Went
from app.explorer.sql.statement import Footprint

Clocks = tuple[tuple[int, ...], tuple[int, ...]]


class Past:
    """What happened so far, and for each step how many of the other's had to come before it.

    These numbers, each buyer's in order, are the same for all orders that come to the same: they
    are the state's name. (Mazurkiewicz' traces; the numbers are vector clocks of two.)
    """

    def __init__(self) -> None:
        self.steps: tuple[list[Footprint], list[Footprint]] = ([], [])
        self.clocks: tuple[list[int], list[int]] = ([], [])

    def add(self, buyer: int, went: Went) -> None:
        theirs = self.steps[1 - buyer]
        clock = self.clocks[buyer][-1] if self.clocks[buyer] else 0
        for number, step in enumerate(theirs, 1):
            if went.did.concerns(step):
                clock = max(clock, number)
        self.steps[buyer].append(went.did)
        self.clocks[buyer].append(len(theirs) if went.woken else clock)

    def name(self) -> Clocks:
        return tuple(self.clocks[0]), tuple(self.clocks[1])


class StageState(NamedTuple):
    """What can be seen of a state; `outcomes` is empty until both have come to their end."""

    book: Book
    pending: tuple[str, ...]
    choices: tuple[int, ...]
    outcomes: tuple[str, ...]


class Orders:
    """The states have numbers, in the order in which they were found; 0 is the beginning."""

    def __init__(self, stage: Stage, most: int, stopped: Callable[[], bool]) -> None:
        """More than `most` runs are TooMany; `stopped` is asked before each (KeyboardInterrupt)."""
        self.stage = stage
        self.most = most
        self.stopped = stopped
        self.runs = 0  # from a fresh shelf, as far as was new
        self.states: list[StageState] = []
        self.edges: list[list[Transition]] = []
        self.rows: dict[tuple[int, int], Step] = {}  # by the state that it leaves, and the buyer
        self.numbers: dict[Clocks, int] = {}
        self.todo: list[list[int]] = [[]]  # who goes, step by step; the last of it is new

    def explore(self) -> None:
        """Raises TooMany, KeyboardInterrupt, and ShopError when two runs differ."""
        while self.todo:
            if self.stopped():
                raise KeyboardInterrupt
            if self.runs == self.most:
                raise TooMany
            self.runs += 1
            with self.stage.order():
                self._run(self.todo.pop())

    def _run(self, beginning: list[int]) -> None:
        past = Past()
        at, _ = self._state(past)
        for buyer in beginning[:-1]:
            at, _ = self._go(at, buyer, past)
        taken, new, last = beginning[:-1], True, tuple(beginning[-1:])
        while new:
            choices = last or self.states[at].choices
            if not choices:
                return
            self.todo += [[*taken, other] for other in choices[1:]]
            taken, last = [*taken, choices[0]], ()
            at, new = self._go(at, choices[0], past)

    def _go(self, at: int, buyer: int, past: Past) -> tuple[int, bool]:
        """One step. The number of the state that it leads to, and whether nobody was there yet."""
        went = self.stage.go(buyer)
        past.add(buyer, went)
        to, new = self._state(past)
        known = self.rows.setdefault((at, buyer), went.step)
        transition = Transition(went.step.does, buyer, 0, to)
        if transition not in self.edges[at]:
            self.edges[at].append(transition)
        if known != went.step or len(self.edges[at]) > len(self.states[at].choices):
            raise ShopError(f"Two runs of the same order differ: {known}, then {went.step}.")
        return to, new

    def _state(self, past: Past) -> tuple[int, bool]:
        stage = self.stage
        state = StageState(stage.book, stage.pending(), stage.choices(), stage.outcomes())
        number = self.numbers.setdefault(past.name(), len(self.states))
        if number == len(self.states):
            self.states.append(state)
            self.edges.append([])
            return number, True
        if self.states[number] != state:
            raise ShopError(f"Orders that are one differ: {self.states[number]}, then {state}.")
        return number, False
