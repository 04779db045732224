"""What never comes to an end; a look at the whole graph tells."""

from __future__ import annotations

from collections import defaultdict

from badluck.findings.rule import Rule
from badluck.search.graph import Graph

STUCK = Rule(
    "stuck for ever",
    "Somebody waits for something that can never happen, and no timeout ends the wait.",
)
STARVED = Rule(
    "starved",
    "The others come again and again while one actor never gets a turn.",
)


def stuck(graph: Graph) -> set[int]:
    """Where somebody will never come to an end, however long the others go on."""
    onward: dict[int, list[int]] = defaultdict(list)
    ends = []
    for number, state in enumerate(graph.states):
        if graph.over(state):
            ends.append(number)
        for way in graph.ways[number]:
            if way.kind in ("goes", "time", "arrives"):
                onward[way.to].append(number)
    free, todo = set(ends), ends
    while todo:
        for number in onward[todo.pop()]:
            if number not in free:
                free.add(number)
                todo.append(number)
    return set(range(len(graph.states))) - free


def doomed(graph: Graph, where: set[int]) -> set[int]:
    """Of those states the ones to show: of all when every order ends so, where nobody goes on."""
    if 0 not in where:
        return where
    last = {
        number
        for number in where
        if not any(way.kind in ("goes", "arrives") for way in graph.ways[number])
    }
    return last or where
