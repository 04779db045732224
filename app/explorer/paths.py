"""The shortest way to something: by faults, then by switches between buyers, then by steps."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple, Protocol

from app.explorer.faults import Faults
from app.explorer.graph import Way
from app.explorer.names import LETTERS

FAULTS = frozenset(Faults._fields)


class Cost(NamedTuple):
    """Compares as it stands: one fault more is worse than any number of steps."""

    faults: int
    switches: int
    steps: int


class Path(NamedTuple):
    cost: Cost
    ways: tuple[tuple[int, Way], ...]  # from which state, by which way


# A cost as one number that compares as the cost does.
FAULT, SWITCH, STEP = 1 << 40, 1 << 20, 1
# A place is a state and who has moved last: whether the next step is a switch depends on it. One
# number, too: the state's, then the mover's.
MOVERS = 1 << 10
NOBODY, EVERYBODY = 0, 1


class Ways(Protocol):
    """A graph, as far as paths go: for each state the ways on; state 0 is the beginning."""

    @property
    def ways(self) -> list[list[Way]]: ...


def shortest(graph: Ways, goals: dict[str, set[int]]) -> dict[str, Path]:
    """To each of the goals: a name, and the states where it is reached. Dijkstra (1959)."""
    found: dict[str, Path] = {}
    wanted = dict(goals)
    came: dict[int, tuple[int, Way]] = {}
    best = {NOBODY: 0}
    todo = [(0, NOBODY)]
    while todo and wanted:
        cost, place = heappop(todo)
        if cost > best[place]:
            continue
        number, mover = divmod(place, MOVERS)
        for name in [name for name, states in wanted.items() if number in states]:
            faults, rest = divmod(cost, FAULT)
            found[name] = Path(Cost(faults, *divmod(rest, SWITCH)), tuple(_back(place, came)))
            del wanted[name]
        for way in graph.ways[number]:
            moves, called = _movers(way)
            further = cost + STEP
            if mover not in (NOBODY, moves):
                further += SWITCH
            if way.kind in FAULTS:
                further += FAULT
            there = way.to * MOVERS + called
            if there not in best or further < best[there]:
                best[there], came[there] = further, (place, way)
                heappush(todo, (further, there))
    return found


def _movers(way: Way) -> tuple[int, int]:
    """Who moves, by the names that buyers have before it, and by those after it."""
    if way.buyer < 0:
        return EVERYBODY, EVERYBODY
    strands = 2 + way.strand * len(LETTERS)
    return strands + way.buyer, strands + (way.names[way.buyer] if way.names else way.buyer)


def _back(place: int, came: dict[int, tuple[int, Way]]) -> list[tuple[int, Way]]:
    ways = []
    while place in came:
        place, way = came[place]
        ways.append((place // MOVERS, way))
    return ways[::-1]


def cost(ways: Sequence[Way]) -> Cost:
    """Of a schedule."""
    movers = [(way.buyer, way.strand) for way in ways]
    return Cost(
        sum(way.kind in FAULTS for way in ways),
        sum(one != other for one, other in pairwise(movers)),
        len(ways),
    )


def schedules(graph: Ways) -> int | None:
    """How many different schedules there are. None: one may go round in circles."""
    found = ends(graph)
    return None if found is None else sum(found.values())


def ends(graph: Ways) -> dict[int, int] | None:
    """How many different schedules end in each of the states without a way on. None: as above."""
    count = [0] * len(graph.ways)
    arrivals = [0] * len(graph.ways)
    for ways in graph.ways:
        for way in ways:
            arrivals[way.to] += 1
    count[0] = 1
    todo, seen, found = [0], 0, {}
    while todo:
        number = todo.pop()
        seen += 1
        if not graph.ways[number]:
            found[number] = count[number]
        for way in graph.ways[number]:
            count[way.to] += count[number]
            arrivals[way.to] -= 1
            if arrivals[way.to] == 0:
                todo.append(way.to)
    return found if seen == len(graph.ways) else None
