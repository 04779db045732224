"""Waits that never end, found by a look at the whole graph."""

from __future__ import annotations

from collections import defaultdict

from badluck.actor.request import Rest, Send
from badluck.model.values import Value
from badluck.rule import Rule
from badluck.search.behaviour import Node
from badluck.search.components import terminal_components
from badluck.search.graph import Graph
from badluck.search.state import BY_ITSELF, SystemState

STUCK = Rule(
    "stuck forever",
    "An actor waits for something that can never happen, and no timeout ends the wait.",
)
STARVED = Rule(
    "starved",
    "The others come again and again while one actor never gets a turn.",
)


def stuck(graph: Graph) -> set[int]:
    """Return the states in which an actor can never end, however long the others continue."""
    onward: dict[int, list[int]] = defaultdict(list)
    ends = []
    for number, state in enumerate(graph.states):
        if graph.over(state):
            ends.append(number)
        for edge in graph.edges[number]:
            if edge.kind in BY_ITSELF:
                onward[edge.to].append(number)
    free, todo = set(ends), ends
    while todo:
        for number in onward[todo.pop()]:
            if number not in free:
                free.add(number)
                todo.append(number)
    return set(range(len(graph.states))) - free


def doomed(graph: Graph, where: set[int]) -> set[int]:
    """Choose the states to show: where all actors only wait, if every order is stuck."""
    if 0 not in where:
        return where
    ends = waiting(graph, where) - {0}  # an actor that only sleeps is shown asleep
    return ends & _unchanging(graph, where) or ends or {0}


def _unchanging(graph: Graph, where: set[int]) -> set[int]:
    """Return the states from which no key changes any more, whatever happens by itself."""
    backward: dict[int, list[int]] = defaultdict(list)
    todo = []
    for number in where:
        values = _values(graph, number)
        for edge in graph.edges[number]:
            if edge.kind in BY_ITSELF:
                backward[edge.to].append(number)
                if _values(graph, edge.to) != values:
                    todo.append(number)
    moving = set(todo)
    while todo:
        for number in backward[todo.pop()]:
            if number not in moving:
                moving.add(number)
                todo.append(number)
    return where - moving


def _values(graph: Graph, number: int) -> list[dict[bytes, Value]]:
    """Return the values of each server's keys, without their expiry."""
    stores = graph.servers.stores(graph.states[number].servers)
    return [{key: entry.value for key, entry in store.items()} for store in stores]


def waiting(graph: Graph, where: set[int]) -> set[int]:
    """Return the states in which no request of any actor changes anything."""
    return terminal_components(sorted(where), lambda number: _onward(graph, number))


def _onward(graph: Graph, number: int) -> list[int]:
    return [edge.to for edge in graph.edges[number] if edge.kind in ("goes", "arrives")]


def all_waiting(graph: Graph, where: set[int], number: int) -> list[tuple[int, Node]]:
    """Return the living actors and their nodes in the nearest waiting state after `number`.

    Polling actors are shown at their command, not in the sleep before it.
    """
    last = waiting(graph, where)
    todo, visited = [number], {number}
    for at in todo:
        if at in last:
            state = graph.states[at]
            return [(actor, _asks(graph, state, actor)) for actor, _ in graph.alive(state)]
        todo += [to for to in dict.fromkeys(_onward(graph, at)) if to not in visited]
        visited.update(todo)
    return []


def _asks(graph: Graph, state: SystemState, actor: int) -> Node:
    automaton, at = graph.automata[actor], state.nodes[actor]
    request = automaton.nodes[at].requests[0]
    if isinstance(request, Rest) and request.sleeps:
        awake = automaton.nodes[automaton.move(at, 0, None, request.until).to]
        return awake if isinstance(awake.requests[0], Send) else automaton.nodes[at]
    return automaton.nodes[at]
