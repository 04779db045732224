"""The shortest path to a goal: by faults, then by switches between actors, then by steps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple, Protocol

from badluck.search.names import LETTERS
from badluck.search.state import ORDINARY, Transition


class Cost(NamedTuple):
    """Costs compare in this order: one more fault is worse than any number of steps."""

    faults: int
    switches: int
    steps: int


class Path(NamedTuple):
    cost: Cost
    edges: tuple[tuple[int, Transition], ...]  # from which state, by which edge

    @property
    def end(self) -> int:
        """Return the number of the state that it leads to."""
        return self.edges[-1][1].to if self.edges else 0


# A goal: a state, or a step with the state from which it leads.
Goal = int | tuple[int, Transition]

# A cost as one number that compares as the cost does.
FAULT, SWITCH, STEP = 1 << 40, 1 << 20, 1
# A place is a state with the last mover: whether the next step is a switch depends on it. It is one
# number, too: the state's, then the mover's.
MOVERS = 1 << 10
NO_MOVER, ALL_MOVERS = 0, 1


class Transitions(Protocol):
    """A graph as paths use it: the transitions of each state; state 0 is the beginning."""

    @property
    def edges(self) -> list[list[Transition]]: ...


def shortest(graph: Transitions, goals: Mapping[str, Set[Goal]]) -> dict[str, Path]:
    """Return the path to the nearest of each name's goals. Dijkstra (1959)."""
    names: dict[Goal, list[str]] = defaultdict(list)
    for name, sought in goals.items():
        for goal in sought:
            names[goal].append(name)
    cheapest: dict[str, tuple[int, list[tuple[int, Transition]]]] = {}  # the cheapest so far
    came: dict[int, tuple[int, Transition]] = {}
    best = {NO_MOVER: 0}
    todo = [(0, NO_MOVER)]

    def reach(goal: Goal, cost: int, place: int, *last: tuple[int, Transition]) -> None:
        for name in names.get(goal, ()):
            if name not in cheapest or cost < cheapest[name][0]:
                cheapest[name] = cost, [*_back(place, came), *last]

    while todo:
        cost, place = heappop(todo)
        if len(cheapest) == len(goals) and all(cost >= least for least, _ in cheapest.values()):
            break
        if cost > best[place]:
            continue
        number, mover = divmod(place, MOVERS)
        reach(number, cost, place)
        for edge in graph.edges[number]:
            moves, called = _movers(edge)
            further = cost + STEP
            if mover not in (NO_MOVER, moves):
                further += SWITCH
            if edge.kind not in ORDINARY:
                further += FAULT
            reach((number, edge), further, place, (number, edge))
            next_place = edge.to * MOVERS + called
            if next_place not in best or further < best[next_place]:
                best[next_place], came[next_place] = further, (place, edge)
                heappush(todo, (further, next_place))
    return {name: Path(_cost(least), tuple(edges)) for name, (least, edges) in cheapest.items()}


def _cost(least: int) -> Cost:
    faults, rest = divmod(least, FAULT)
    return Cost(faults, *divmod(rest, SWITCH))


def _movers(edge: Transition) -> tuple[int, int]:
    """Return the mover, by the names before the step and by those after it."""
    if edge.actor < 0:
        return ALL_MOVERS, ALL_MOVERS
    fibers = 2 + edge.fiber * len(LETTERS)
    return fibers + edge.actor, fibers + (edge.names[edge.actor] if edge.names else edge.actor)


def _back(place: int, came: dict[int, tuple[int, Transition]]) -> list[tuple[int, Transition]]:
    edges = []
    while place in came:
        place, edge = came[place]
        edges.append((place // MOVERS, edge))
    return edges[::-1]


def cost(edges: Sequence[Transition]) -> Cost:
    """Return the cost of a schedule."""
    movers = [(edge.actor, edge.fiber) for edge in edges]
    return Cost(
        sum(edge.kind not in ORDINARY for edge in edges),
        sum(mover != next_mover for mover, next_mover in pairwise(movers)),
        len(edges),
    )


def schedules(graph: Transitions) -> int | None:
    """Return how many different schedules there are. None: one may go round in circles."""
    ends_found = ends(graph)
    return None if ends_found is None else sum(ends_found.values())


def ends(graph: Transitions) -> dict[int, int] | None:
    """Return how many schedules end in each state without a transition. None: as above."""
    count = [0] * len(graph.edges)
    arrivals = [0] * len(graph.edges)
    for edges in graph.edges:
        for edge in edges:
            arrivals[edge.to] += 1
    count[0] = 1
    todo, visited, ends_found = [0], 0, {}
    while todo:
        number = todo.pop()
        visited += 1
        if not graph.edges[number]:
            ends_found[number] = count[number]
        for edge in graph.edges[number]:
            count[edge.to] += count[number]
            arrivals[edge.to] -= 1
            if arrivals[edge.to] == 0:
                todo.append(edge.to)
    return ends_found if visited == len(graph.edges) else None
