"""Texts about actors that wait forever: their lines, and their last requests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain

from badluck.actor import user_code_error
from badluck.actor.request import Request, Rest, Send
from badluck.findings.endless_wait import all_waiting
from badluck.findings.endless_wait import waiting as all_wait_at
from badluck.findings.judge import Judge
from badluck.search.paths import Path, cost
from badluck.search.state import Transition

DOOMED = "It has not come to that yet, but every way leads there; by the shortest"
Edges = list[tuple[int, Transition]]


def wait_text(judge: Judge, path: Path) -> str:
    """Describe each line that waits in a user's code; `path` leads to where it is stuck."""
    if judge.target.code.shown:
        return ""
    names_at: dict[str, list[str]] = defaultdict(list)
    running: list[str] = []
    for actor, node in all_waiting(judge.graph, judge.stuck, path.end):
        for spot in () if node.ended else node.stands[0]:
            names_at[user_code_error.line_of(*spot)].append(judge.graph.names[actor])
        for spot in chain(*node.stands[1:]) if node.ended else ():
            where = user_code_error.line_of(*spot)
            name = judge.graph.names[actor]
            running.append(f"{name} is done, and its thread still runs in {where}.")
    waiting = (
        f"{' and '.join(names)} {'wait' if len(names) > 1 else 'waits'} in {where}."
        for where, names in names_at.items()
    )
    text = " ".join([*waiting, *running])
    if not text or path.end in all_wait_at(judge.graph, judge.stuck):
        return text
    return f"{DOOMED}: {text}"


def extend_to_wait(judge: Judge, path: Path) -> Path:
    """Extend a path that is stuck in every order until each waiting actor has asked once."""
    if 0 not in judge.stuck or judge.graph.symmetry:  # an edge that exchanges names
        return path
    edges = [*path.edges]
    for actor, node in all_waiting(judge.graph, judge.stuck, path.end):
        edges += [] if node.ended else _round(judge, edges, actor)
    return Path(cost([edge for _, edge in edges]), tuple(edges))


def _round(judge: Judge, edges: Edges, actor: int) -> Iterator[tuple[int, Transition]]:
    """Yield the actor's steps until its state repeats; nothing if it has just done so."""
    graph = judge.graph
    at = edges[-1][1].to if edges else 0
    asks = _request(judge, at, actor)
    own = [(number, edge) for number, edge in edges if (edge.actor, edge.fiber) == (actor, 0)]
    if not _does(asks) or (own and _does(_request(judge, own[-1][0], actor)) == _does(asks)):
        return
    visited: set[int] = set()
    while at not in visited:
        visited.add(at)
        back = Transition("goes", actor, 0, at)  # a poll that changes nothing adds no transition
        edges_on = (
            edge for edge in graph.edges[at] if (edge.kind, *edge[1:3]) == ("goes", actor, 0)
        )
        edge = next(edges_on, back)
        if edge is back and isinstance(_request(judge, at, actor), Rest):
            return  # it sleeps, and has polled before that
        yield at, edge
        at = edge.to


def _request(judge: Judge, number: int, actor: int) -> Request:
    graph = judge.graph
    return graph.automata[actor].nodes[graph.states[number].nodes[actor]].requests[0]


def _does(request: Request) -> object:
    """Return None if it only waits for others."""
    if isinstance(request, Send):
        return request.commands
    return request.then if isinstance(request, Rest) and request.sleeps else None
