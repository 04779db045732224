"""Every order of two buyers' statements, as a graph; every path in it was run live.

Two prefixes are one state when they differ only in the turns of independent steps: then each buyer
got the same answers, and the database is the same. That is checked: when a second prefix leads to a
known state, all that is visible must be equal.
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
    """The steps so far, and for each how many of the other buyer's had to come before it.

    These numbers, each buyer's in order, are equal for all equivalent orders: they are the state's
    name. (Mazurkiewicz' traces; the numbers are vector clocks of two.)
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
    """The visible part of a state; `outcomes` is empty until both buyers have finished."""

    book: Book
    pending: tuple[str, ...]
    choices: tuple[int, ...]
    outcomes: tuple[str, ...]


class Orders:
    """The graph. States are numbered in the order in which they were found; 0 is the beginning."""

    def __init__(self, stage: Stage, most: int, stopped: Callable[[], bool]) -> None:
        """More than `most` runs are TooMany; `stopped` is asked before each (KeyboardInterrupt)."""
        self.stage = stage
        self.most = most
        self.stopped = stopped
        self.runs = 0  # from a fresh shelf up to the first new step
        self.states: list[StageState] = []
        self.edges: list[list[Transition]] = []
        self.rows: dict[tuple[int, int], Step] = {}  # by the state before the step, and the buyer
        self.numbers: dict[Clocks, int] = {}
        self.todo: list[list[int]] = [[]]  # the buyer of each step; the last step is new

    def explore(self) -> None:
        """Explore all orders. Raises TooMany, KeyboardInterrupt; ShopError when two runs differ."""
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
        """Take one step. Return the number of the next state, and whether that state is new."""
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
