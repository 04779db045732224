"""A graph of which only those states are looked at that somebody walks to.

For a player who chooses each step. The states and the ways are those of the search; actors keep
their names.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from badluck.actor.actor import Code
from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.findings.judge import Judge
from badluck.search.automaton import Automaton, Known
from badluck.search.graph import Graph, Sleepers, TooMany
from badluck.search.state import Transition
from badluck.target import Target

# Of each kind of fault. A third one teaches nothing new.
MOST_FAULTS = 2
TWO_OF_EACH = Faults(*[MOST_FAULTS] * len(Faults._fields))
# States. Where everybody only asks in vain there are a handful: a place for each step of a poll.
FEW = 200
# States of one board, some hundred bytes each: who walks about meets some dozens at each step.
MOST = 50_000


class Board(Graph):
    def __init__(
        self,
        target: Target,
        actors: int,
        faults: Faults = TWO_OF_EACH,
        automaton: Callable[[str, Code, int], Known] = Automaton,
    ) -> None:
        self.explorer = Explorer(target, actors, counts_given=True, automaton=automaton)
        super().__init__(self.explorer.moves, faults, target.pauses, MOST)
        self.judge = Judge(self, target)
        self.opened: set[int] = set()
        self.circles: dict[int, bool] = {}
        self.all_seen = True  # whatever is asked for

    def on(self, number: int) -> list[Transition]:
        """The ways on from a state; pauses by their length. Raises TooMany, and Unsupported."""
        if number not in self.circles:
            sleepers = self._only_waits(number)
            self.circles[number] = sleepers is not None
            if sleepers is not None:
                self._let_time_pass(number, sleepers)
        return self.at_once(number)

    def onward(self, number: int) -> list[Transition]:
        return self.on(number)

    def settled(self, number: int) -> bool:
        with suppress(TooMany):
            return super().settled(number)
        return True

    def at_once(self, number: int) -> list[Transition]:
        """The same, but that time passes by itself: to know that takes a look at many states."""
        self._open(number)
        return sorted(self.ways[number], key=lambda way: self.took(number, way))

    def stuck(self, number: int) -> bool:
        """Do all wait here, and however long: for what can never happen?"""
        todo, seen = [number], {number}
        for at in todo:
            ways = self.on(at)
            if not self.circles[at] or self.over(self.states[at]):
                return False
            later = {way.to for way in ways if way.kind in ("time", "arrives")} - seen
            todo += sorted(later)
            seen |= later
        return True

    def _open(self, number: int) -> None:
        if number not in self.opened:
            self.opened.add(number)
            self._expand(number)

    def _only_waits(self, number: int) -> Sleepers | None:
        """Is whatever anybody can do now in vain? Then time passes by itself. And who sleeps."""
        met, todo = {number}, [number]
        while todo:
            at = todo.pop()
            self._open(at)
            for to in self._goes(at):
                if to not in met:
                    met.add(to)
                    todo.append(to)
            if len(met) > FEW:
                return None
        return self.waiting(list(met)).get(number)
