"""Can others go on forever while one actor never gets its turn?

All actors except one start again and again, and find everything as at the beginning each time. The
one actor is starved when the system can go round in a fair circle, in which another actor ends at
every turn. Fair means that the one actor is not passed over while it could move: it polls without
success, or moves and gets nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from badluck.search.components import cycles
from badluck.search.graph import Graph
from badluck.search.moves import Moves
from badluck.search.paths import Path, cost, shortest
from badluck.search.server_states import Fill
from badluck.search.state import Budget, SystemState, Transition

ONE = 0  # the actor that runs once


class EndlessGraph(Graph):
    """A graph in which all actors except the first start again when they have ended."""

    def __init__(
        self,
        moves: Moves,
        faults: Budget,
        pauses: Sequence[int],
        most: int,
        fill: Fill,
        gave_up: str | None,
    ) -> None:
        """Build a graph without faults.

        `fill` resets the store's keys to what an actor that starts again finds. `gave_up` is the
        outcome of an actor that has given up, None if none gives up.
        """
        super().__init__(moves, faults, pauses, most)
        self.fill = fill
        self.gave_up = gave_up

    def _expand(self, number: int) -> None:
        super()._expand(number)
        state = self.states[number]
        for actor, at in enumerate(state.nodes):
            node = self.automata[actor].nodes[at]
            if actor == ONE or not node.ended:
                continue
            servers = self.servers.drop(state.servers, node.bound) if node.bound else state.servers
            servers = self.servers.fill_up(servers, self.fill)
            nodes = (*state.nodes[:actor], 0, *state.nodes[actor + 1 :])
            to, names = self._number(servers, nodes, state.left, state.before, state.in_flight)
            self.edges[number].append(Transition("again", actor, 0, to, names))

    def over(self, state: SystemState) -> bool:
        """Has the first actor ended? The others never end."""
        return self.automata[ONE].nodes[state.nodes[ONE]].ended


def starvation(graph: EndlessGraph) -> Path | None:
    """Return the shortest path to a fair circle, and once around it; or to where it gives up."""
    goals = {"it gives up": {n for n, state in enumerate(graph.states) if _gave_up(graph, state)}}
    rounds = _fair_circles(graph)
    goals["a circle"] = {number for circle in rounds for number in circle}
    paths = shortest(graph, goals)
    if circled := paths.get("a circle"):
        at = circled.end
        circle = next(circle for circle in rounds if at in circle)
        edges = (*circled.edges, *_around(graph, circle, at))
        return Path(cost([edge for _, edge in edges]), edges)
    return paths.get("it gives up")


def _fair_circles(graph: EndlessGraph) -> list[set[int]]:
    waits = {number for number, state in enumerate(graph.states) if not graph.over(state)}
    onward = {at: [edge.to for edge in graph.edges[at] if edge.to in waits] for at in waits}
    return [circle for circle in cycles(sorted(waits), onward) if _fair(graph, circle)]


def _fair(graph: EndlessGraph, circle: set[int]) -> bool:
    edges = [edge for at in circle for edge in graph.edges[at] if edge.to in circle]
    others_go_on = any(edge.kind == "again" for edge in edges)
    return others_go_on and (
        any(edge.actor == ONE for edge in edges) or any(_in_vain(graph, at) for at in circle)
    )


def _in_vain(graph: EndlessGraph, at: int) -> bool:
    """Is the one actor free to ask, and gets nothing?"""
    return all(edge.actor != ONE for edge in graph.edges[at])


def _gave_up(graph: EndlessGraph, state: SystemState) -> bool:
    return graph.automata[ONE].nodes[state.nodes[ONE]].outcome == graph.gave_up


def _around(graph: EndlessGraph, circle: set[int], start: int) -> list[tuple[int, Transition]]:
    """Return a path from `start` back to it: another actor ends, and the one asks."""
    edges = _tour(graph, circle, start, lambda edge: edge.kind == "again")
    at = edges[-1][1].to
    if any(_in_vain(graph, state) for state in circle):
        if not _in_vain(graph, at):
            edges += _tour(graph, circle, at, lambda edge: _in_vain(graph, edge.to))
            at = edges[-1][1].to
        edges.append((at, Transition("goes", ONE, 0, at)))  # it asks, and nothing changes
    else:
        edges += _tour(graph, circle, at, lambda edge: edge.actor == ONE)
        at = edges[-1][1].to
    return edges + (_tour(graph, circle, at, lambda edge: edge.to == start) if at != start else [])


def _tour(
    graph: EndlessGraph, circle: set[int], start: int, wanted: Callable[[Transition], bool]
) -> list[tuple[int, Transition]]:
    """Return the shortest path inside of the circle whose last step is wanted."""
    todo: list[tuple[int, list[tuple[int, Transition]]]] = [(start, [])]
    visited = {start}
    for at, edges in todo:
        for edge in graph.edges[at]:
            if edge.to in circle and wanted(edge):
                return [*edges, (at, edge)]
            if edge.to in circle and edge.to not in visited:
                visited.add(edge.to)
                todo.append((edge.to, [*edges, (at, edge)]))
    raise AssertionError("every state of a circle can be reached from every other")
