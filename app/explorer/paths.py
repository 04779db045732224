"""The shortest way to something: by faults, then by switches between buyers, then by steps."""

from __future__ import annotations

import heapq
from typing import NamedTuple, Protocol

from app.explorer.faults import Faults
from app.explorer.graph import Graph, Way

FAULTS = frozenset(Faults._fields)


class Cost(NamedTuple):
    """Compares as it stands: one fault more is worse than any number of steps."""

    faults: int
    switches: int
    steps: int


class Place(NamedTuple):
    """A state, and who has moved last: whether the next step is a switch depends on it."""

    number: int
    mover: tuple[int, int] | None  # buyer and strand


class Path(NamedTuple):
    cost: Cost
    ways: tuple[tuple[int, Way], ...]  # from which state, by which way


class Ways(Protocol):
    """What a way is sought in: a graph whose state 0 is the beginning."""

    ways: list[list[Way]]


def shortest(graph: Ways, goals: dict[str, set[int]]) -> dict[str, Path]:
    """To each of the goals: a name, and the states where it is reached. Dijkstra (1959)."""
    found: dict[str, Path] = {}
    wanted = dict(goals)
    start = Place(0, None)
    came: dict[Place, tuple[Place, Way]] = {}
    best = {start: Cost(0, 0, 0)}
    todo = [(best[start], 0, start)]  # the number in between: places themselves have no order
    while todo and wanted:
        cost, _, place = heapq.heappop(todo)
        if cost > best[place]:
            continue
        for name in [name for name, states in wanted.items() if place.number in states]:
            found[name] = Path(cost, tuple(_back(place, came)))
            del wanted[name]
        for way in graph.ways[place.number]:
            there = Place(way.to, (way.buyer, way.strand))
            further = Cost(
                cost.faults + (way.kind in FAULTS),
                cost.switches + (place.mover not in (None, there.mover)),
                cost.steps + 1,
            )
            if there not in best or further < best[there]:
                best[there], came[there] = further, (place, way)
                heapq.heappush(todo, (further, len(came), there))
    return found


def _back(place: Place, came: dict[Place, tuple[Place, Way]]) -> list[tuple[int, Way]]:
    ways = []
    while place in came:
        place, way = came[place]
        ways.append((place.number, way))
    return ways[::-1]


def schedules(graph: Graph) -> int | None:
    """How many different schedules there are. None: one may go round in circles."""
    count = [0] * len(graph.states)
    arrivals = [0] * len(graph.states)
    for ways in graph.ways:
        for way in ways:
            arrivals[way.to] += 1
    count[0] = 1
    todo, seen, ends = [0], 0, 0
    while todo:
        number = todo.pop()
        seen += 1
        if not graph.ways[number]:
            ends += count[number]
        for way in graph.ways[number]:
            count[way.to] += count[number]
            arrivals[way.to] -= 1
            if arrivals[way.to] == 0:
                todo.append(way.to)
    return ends if seen == len(graph.states) else None
