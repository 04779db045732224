"""The state graph as an engine: schedules are counted, none of them is run."""

from __future__ import annotations

from collections import Counter

from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.findings.judge import Judge
from badluck.search.graph import Graph
from badluck.search.moves import Moves
from badluck.search.paths import ends
from badluck.search.state import CRASHED as CRASHED_NODE
from badluck.search.state_table import TooMany

from app.explorer.targets import Target
from tests.integration.explorer.engines.engine import CRASHED, End, Endless


class Counted:
    """Without a Symmetry: the ends must show which buyer got which outcome."""

    def __init__(self, target: Target, buyers: int, faults: Faults, states: int) -> None:
        """Treat a graph of more than `states` as Endless."""
        self.target = target
        self.buyers = buyers
        self.faults = faults
        self.states = states

    def ends(self, most: int) -> Counter[End]:
        explorer = Explorer(self.target, self.buyers)
        with self.target.surroundings():
            moves = Moves(explorer.servers, explorer.automata)
            found = Graph(moves, self.faults, self.target.pauses, self.states)
            try:
                found.explore()
            except TooMany:
                raise Endless(f"{self.target.name} has more than {self.states} states") from None
        counted = ends(found)
        if counted is None:
            raise Endless(f"{self.target.name} has schedules that go round in circles")
        if sum(counted.values()) > most:
            raise Endless(f"{self.target.name} has more than {most} schedules")
        judge = Judge(found, self.target)
        told: Counter[End] = Counter()
        for number, schedules in counted.items():
            state = found.states[number]
            words = tuple(
                CRASHED if at == CRASHED_NODE else automaton.nodes[at].outcome
                for automaton, at in zip(found.automata, state.nodes, strict=True)
            )
            told[End(words, judge.book(state.servers))] += schedules
        return told
