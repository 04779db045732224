"""A schedule, step by step: who moved, what went over the wire, and how things stood then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from app.explorer import words
from app.explorer.findings import Judge
from app.explorer.graph import CRASHED, Graph, Way
from app.explorer.paths import Path
from app.explorer.request import Hear, Send


class Step(NamedTuple):
    """`does`: goes, lost (its reply), crash, pause, time, failover, again (a new purchase)."""

    buyer: str  # "" for what nobody does
    strand: int  # 0 the purchase, 1... a renewal beside it
    does: str
    at: int  # ms since the schedule began, when it is done
    lines: list[str]  # the commands, or what else it did
    said: list[str]  # the replies
    told: str  # the buyer's outcome, if this was his last step
    left: int  # units on the shelf
    lock: str  # its value, "" when nobody holds it
    sold: int  # orders that the store knows of


def trace(graph: Graph, judge: Judge, path: Path) -> list[Step]:
    return list(_steps(graph, judge, path))


def _steps(graph: Graph, judge: Judge, path: Path) -> Iterator[Step]:
    for number, way in path.ways:
        before, after = graph.states[number], graph.states[way.to]
        lines, said = _what(graph, number, way)
        told = ""
        if way.buyer >= 0 and after.nodes[way.buyer] != CRASHED:
            told = graph.automata[way.buyer].nodes[after.nodes[way.buyer]].told
            if graph.automata[way.buyer].nodes[before.nodes[way.buyer]].told:
                told = ""
        book = judge.book(after.world)
        yield Step(
            graph.automata[way.buyer].name if way.buyer >= 0 else "",
            way.strand,
            way.kind,
            graph.world.now(after.world) - graph.began,
            lines,
            said,
            told,
            book.left,
            (book.lock or b"").decode("utf-8", "backslashreplace"),
            len(book.sales),
        )


def _what(graph: Graph, number: int, way: Way) -> tuple[list[str], list[str]]:
    state = graph.states[number]
    if way.kind in ("pause", "time"):
        passed = graph.world.now(graph.states[way.to].world) - graph.world.now(state.world)
        return [f"{passed / 1000:.1f} s"], []
    if way.kind in ("crash", "failover", "again"):
        return [], []
    node = graph.automata[way.buyer].nodes[state.nodes[way.buyer]]
    request = node.requests[way.strand]
    if isinstance(request, Send):
        return words.of(
            request, graph.world.send(state.world, request.connection, request.commands).said
        )
    heard = graph.world.hear(state.world, request.connection) if isinstance(request, Hear) else None
    return words.of(request, heard.said if heard else None)
