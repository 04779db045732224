"""The shortest schedule is the shortest: compared with all of them, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from badluck.explorer import Explorer
from badluck.faults import FAULTS, Faults
from badluck.findings.judge import Judge
from badluck.search.graph import Graph
from badluck.search.paths import Cost, shortest
from badluck.search.state import Transition

from app.explorer.targets import Target

CASES = [
    ("naive", Faults(crash=1)),
    ("naive", Faults(lost=1)),
    ("read_before_watch", Faults()),
    ("watch", Faults(failover=1)),
    ("decr", Faults(crash=1)),
    ("lock:lease", Faults(pause=2)),
    ("lock:lease", Faults(pause=1, failover=1)),
    ("lock:setnx", Faults(crash=1)),
    ("lock:unowned", Faults(pause=1)),
    ("fused", Faults(failover=1)),
    ("decr", Faults(late=1)),
    ("lock:lease", Faults(late=1)),
]


def every_schedule(graph: Graph) -> Iterator[list[Transition]]:
    """Yield each path from the start to any state, by plain recursion."""

    def further(number: int, ways: list[Transition]) -> Iterator[list[Transition]]:
        yield ways
        for way in graph.edges[number]:
            yield from further(way.to, [*ways, way])

    yield from further(0, [])


def cost(ways: list[Transition]) -> Cost:
    faults = sum(way.kind in FAULTS for way in ways)
    movers = [(way.actor, way.fiber) for way in ways]
    switches = sum(one != other for one, other in pairwise(movers))
    return Cost(faults, switches, len(ways))


@pytest.mark.parametrize(("name", "faults"), CASES)
def test_no_schedule_is_shorter(name: str, faults: Faults) -> None:
    target = Target(name)
    explorer = Explorer(target, 2)
    with target.surroundings():
        graph = Graph(explorer.moves, faults, target.pauses)
        graph.explore()
        places = Judge(graph, target).places
    least: dict[str, Cost] = {}
    for ways in every_schedule(graph):
        states = [0, *(way.to for way in ways)]
        reached = {states[-1], *zip(states[-2:-1], ways[-1:], strict=True)}  # and the last step
        for finding, goals in places.items():
            if reached & goals and (finding not in least or cost(ways) < least[finding]):
                least[finding] = cost(ways)
    assert {finding: path.cost for finding, path in shortest(graph, places).items()} == least
    assert set(least) == set(places)
