"""States that differ only by the buyers' names are one: no finding may depend on that."""

from __future__ import annotations

import pytest
from badluck.actor.request import Hear, Send
from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.findings.judge import Judge
from badluck.search.automaton import Automaton
from badluck.search.graph import Graph
from badluck.search.paths import schedules, shortest
from badluck.target import EPOCH

from app.explorer.targets import Target, explorable

FAULTS = [Faults(), Faults(crash=1), Faults(pause=1), Faults(lost=1), Faults(failover=1)]
# It has many tries: the others are tested with fewer steps.
TARGETS = [name for name in explorable() if name != "lock:redlock"]


@pytest.mark.parametrize("name", TARGETS)
def test_the_same_is_found_at_the_same_cost(name: str) -> None:
    target = Target(name)
    explorer = Explorer(target, 2)
    for faults in FAULTS:
        found = explorer.explore(faults)
        with target.surroundings():
            graph = Graph(explorer.moves, faults, target.pauses)
            graph.explore()
            paths = shortest(graph, Judge(graph, target).places)
        assert {one.name: one.cost for one in found.findings} == {
            finding: path.cost for finding, path in paths.items()
        }
        assert found.schedules == schedules(graph)
        assert found.states <= len(graph.states)


@pytest.mark.parametrize("name", explorable())
def test_all_that_a_buyer_sends_bears_his_name(name: str) -> None:
    """The second buyer's own code sends what the renamed automaton of the first predicts."""
    target = Target(name, think=1)
    explorer = Explorer(target, 2)
    with target.surroundings():
        own = Automaton("B", target.code, EPOCH)
        servers, at, also = explorer.servers.start, 0, 0
        while not own.nodes[at].ended:
            request = own.nodes[at].requests[0]
            assert explorer.automata[1].nodes[also].requests[0] == request
            assert isinstance(request, Send)
            servers, said, *_ = explorer.servers.send(servers, request.connection, request.commands)
            at = own.move(at, 0, said, EPOCH).to
            also = explorer.automata[1].move(also, 0, said, EPOCH).to
        assert explorer.automata[1].nodes[also].outcome == own.nodes[at].outcome == "SOLD"


def test_three_buyers_make_six_of_most_states() -> None:
    target = Target("lock:lease")
    explorer = Explorer(target, 3)
    found = explorer.explore(Faults(pause=2))
    with target.surroundings():
        graph = Graph(explorer.moves, Faults(pause=2), target.pauses)
        graph.explore()
    assert found.schedules == schedules(graph)
    assert found.states * 5 < len(graph.states) < found.states * 6


@pytest.mark.parametrize("name", ["watch", "fenced", "decr", "lock:queue", "lock:watchdog"])
def test_who_is_called_otherwise_does_the_same(name: str) -> None:
    """Every step of a graph, taken once more under other names."""
    names = (1, 2, 0)
    target = Target(name)
    explorer = Explorer(target, 3)
    with target.surroundings():
        graph = Graph(explorer.moves, Faults(failover=1), [12_000])
        graph.explore()
        steps = 0
        servers, renamed = graph.servers, graph.servers.rename
        for state in graph.states[:3000]:
            for buyer, at in enumerate(state.nodes):
                for request in explorer.automata[buyer].nodes[at].requests if at >= 0 else ():
                    if isinstance(request, Send):
                        other = renamed(request, names)
                        here = servers.send(state.servers, request.connection, request.commands)
                        there = servers.send(
                            servers.renamed(state.servers, names), other.connection, other.commands
                        )
                    elif isinstance(request, Hear):
                        other = renamed(request, names)
                        heard = servers.hear(state.servers, request.connection)
                        also = servers.hear(servers.renamed(state.servers, names), other.connection)
                        if heard is None or also is None:
                            assert heard is also
                            continue
                        here, there = heard, also
                    else:
                        continue
                    assert there.to == servers.renamed(here.to, names)
                    assert there.replies == renamed(here.replies, names)
                    steps += 1
    assert steps > 100
