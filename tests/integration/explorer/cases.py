"""What the graph is to be compared with real servers on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from app.explorer import surroundings
from app.explorer.explore import Explorer
from app.explorer.faults import Faults
from app.explorer.findings import Judge
from app.explorer.graph import CRASHED, Graph, TooMany
from app.explorer.live import performance
from app.explorer.live.search import End, Search
from app.explorer.live.server import LiveServer
from app.explorer.names import LETTERS
from app.explorer.paths import ends
from app.explorer.targets import Target
from app.locks import LOCKS
from app.modes import MODES

FAULTS = [Faults(), Faults(crash=1), Faults(pause=1), Faults(lost=1), Faults(failover=1)]
MOST = 100_000  # schedules
STATES = 30_000  # whose graph is larger has more schedules than that by far
TARGETS = [  # but for redlock: its graph over four servers takes minutes, and is far too large
    *(name for name, mode in MODES.items() if mode.needs == "store" and name != "lock"),
    *(f"lock:{name}" for name, recipe in LOCKS.items() if recipe.needs == "store"),
]


class Case(NamedTuple):
    target: str
    buyers: int
    faults: Faults

    def __str__(self) -> str:
        faults = ",".join(f"{kind}={n}" for kind, n in self.faults._asdict().items() if n)
        return f"{self.target}, {self.buyers} buyers, {faults or 'no faults'}"

    def by_graph(self) -> Counter[End] | None:
        """For each way to end how many schedules do. None: without end, or too many states."""
        target = Target(self.target)
        explorer = Explorer(target, self.buyers)
        with surroundings.of_their_own():
            graph = Graph(explorer.world, explorer.automata, self.faults, target.pause, STATES)
            try:
                graph.explore()
            except TooMany:
                return None
        counted = ends(graph)
        if counted is None:
            return None
        judge = Judge(graph, target)
        found: Counter[End] = Counter()
        for number, schedules in counted.items():
            state = graph.states[number]
            told = tuple(
                performance.CRASHED if at == CRASHED else automaton.nodes[at].told
                for automaton, at in zip(graph.automata, state.nodes, strict=True)
            )
            found[End(told, judge.book(state.world))] += schedules
        return found

    def by_servers(self, servers: Sequence[LiveServer], most: int) -> Counter[End]:
        return Search(Target(self.target), LETTERS[: self.buyers], self.faults, servers).ends(most)


CASES = [Case(name, buyers, faults) for buyers in (2, 3) for name in TARGETS for faults in FAULTS]


def differences(expected: Counter[End], got: Counter[End]) -> list[str]:
    return [
        f"{end}: {expected[end]} schedules in the graph, {got[end]} on the servers"
        for end in expected | got
        if expected[end] != got[end]
    ]
