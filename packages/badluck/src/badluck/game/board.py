"""A graph that is built only for the states to which a player walks.

The player chooses each step. States and transitions are those of the search; actors keep their
names.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from badluck.actor.actor import Code
from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.findings.judge import Judge
from badluck.search.automaton import Automaton
from badluck.search.behaviour import Known
from badluck.search.graph import Graph, Sleepers
from badluck.search.state import Transition
from badluck.search.state_table import TooMany
from badluck.target import Target

# Of each kind of fault. A third one teaches nothing new.
MAX_FAULTS = 2
TWO_OF_EACH = Faults(*[MAX_FAULTS] * len(Faults._fields))
# States. Where all actors only poll there are a few: one for each step of a poll.
MAX_IDLE_STATES = 200
# States of one board, some hundred bytes each: a player meets some dozens at each step.
MAX_STATES = 50_000


class Board(Graph):
    def __init__(
        self,
        target: Target,
        actors: int,
        faults: Faults = TWO_OF_EACH,
        automaton: Callable[[str, Code, int], Known] = Automaton,
    ) -> None:
        self.explorer = Explorer(target, actors, counts_given=True, automaton=automaton)
        super().__init__(self.explorer.moves, faults, target.pauses, MAX_STATES)
        self.judge = Judge(self, target)
        self.expanded: set[int] = set()
        self.idle: dict[int, bool] = {}
        self.all_seen = True  # states are expanded when they are needed

    def onward(self, number: int) -> list[Transition]:
        """Return the transitions, pauses by length. Raises TooMany, UnsupportedCommand."""
        if number not in self.idle:
            sleepers = self._only_waits(number)
            self.idle[number] = sleepers is not None
            if sleepers is not None:
                self._let_time_pass(number, sleepers)
        return self.immediate(number)

    def settled(self, number: int) -> bool:
        with suppress(TooMany):
            return super().settled(number)
        return True

    def immediate(self, number: int) -> list[Transition]:
        """Return the transitions without time passing by itself, which would need many states."""
        self._expand_once(number)
        return sorted(self.edges[number], key=lambda edge: self.took(number, edge))

    def stuck(self, number: int) -> bool:
        """Do all wait here forever, for something that can never happen?"""
        todo, visited = [number], {number}
        for at in todo:
            transitions = self.onward(at)
            if not self.idle[at] or self.over(self.states[at]):
                return False
            later = {edge.to for edge in transitions if edge.kind in ("time", "arrives")} - visited
            todo += sorted(later)
            visited |= later
        return True

    def _expand_once(self, number: int) -> None:
        if number not in self.expanded:
            self.expanded.add(number)
            self._expand(number)

    def _only_waits(self, number: int) -> Sleepers | None:
        """Return the sleepers if no step changes anything, so that time passes by itself."""
        visited, todo = {number}, [number]
        while todo:
            at = todo.pop()
            self._expand_once(at)
            for to in self._goes(at):
                if to not in visited:
                    visited.add(to)
                    todo.append(to)
            if len(visited) > MAX_IDLE_STATES:
                return None
        return self.waiting(list(visited)).get(number)
