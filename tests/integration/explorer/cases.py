"""Cases in which the graph is compared with real servers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from badluck.faults import Faults
from badluck.real_server.server import LiveServer
from badluck.search.names import LETTERS

from app.explorer.targets import Target
from app.locks import LOCKS
from app.modes import MODES
from tests.integration.explorer.engines.engine import End, Endless, Engine
from tests.integration.explorer.engines.search import Search
from tests.integration.explorer.engines.state_graph import Counted

FAULTS = [Faults(), *(Faults(**{kind: 1}) for kind in Faults._fields)]
MOST = 100_000  # schedules
STATES = 30_000  # a larger graph has far more schedules than that
TARGETS = [  # except redlock: its graph over four servers takes minutes, and is far too large
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
        """Return how often each end occurs; None: without end, or too many."""
        model: Engine = Counted(Target(self.target), self.buyers, self.faults, STATES)
        with suppress(Endless):
            return model.ends(MOST)
        return None

    def by_servers(self, servers: Sequence[LiveServer], most: int) -> Counter[End]:
        target, names = Target(self.target), LETTERS[: self.buyers]
        live: Engine = Search(target, names, self.faults, servers)
        return live.ends(most)


CASES = [Case(name, buyers, faults) for buyers in (2, 3) for name in TARGETS for faults in FAULTS]


def differences(expected: Counter[End], got: Counter[End]) -> list[str]:
    return [
        f"{end}: {expected[end]} schedules in the graph, {got[end]} on the servers"
        for end in expected | got
        if expected[end] != got[end]
    ]
