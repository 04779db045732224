"""A schedule, step by step: who moved, what went over the wire, and how things stood then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from badluck.actor.request import Hear, Send
from badluck.actor.words import Words
from badluck.findings.judge import Judge
from badluck.search.graph import CRASHED, Graph, State, Way
from badluck.search.names import Names
from badluck.search.paths import Path

SECOND = 1_000  # ms


class Step(NamedTuple):
    """`does`: goes, lost (its reply), crash, pause, time, failover, again (a new purchase).

    In SQL: goes, blocks (it waits for the other), goes on (it need not wait any more).
    """

    buyer: str  # "" for what nobody does
    strand: int  # 0 the purchase, 1... a renewal beside it
    does: str
    at: int  # ms since the schedule began, when it is done
    lines: list[str]  # the commands, or what else it did
    said: list[str]  # the replies
    told: str  # the buyer's outcome, if this was his last step
    left: int  # as in Shown
    lock: str
    sold: int


def trace(graph: Graph, judge: Judge, path: Path) -> list[Step]:
    return list(_steps(graph, judge, path))


def _steps(graph: Graph, judge: Judge, path: Path) -> Iterator[Step]:
    called = _by_first_move(graph, path)
    after = graph.called(graph.states[0], called)
    for _, way in path.ways:
        before = after
        buyer = called[way.buyer] if way.buyer >= 0 else -1
        called = _through(called, way)
        after = graph.called(graph.states[way.to], called)
        yield step(graph, judge, before, after, way._replace(buyer=buyer))


def step(graph: Graph, judge: Judge, before: State, after: State, way: Way) -> Step:
    """`way` leads from the state `before` to `after`, in which the buyers have their own names."""
    buyer = way.buyer
    told = ""
    if buyer >= 0 and after.nodes[buyer] != CRASHED:
        nodes = graph.automata[buyer].nodes
        told = "" if nodes[before.nodes[buyer]].told else nodes[after.nodes[buyer]].told
    stand = judge.target.shown(judge.book(after.world))
    return Step(
        graph.automata[buyer].name if buyer >= 0 else "",
        way.strand,
        way.kind,
        graph.world.now(after.world) - graph.began,
        *_what(graph, judge.target.code.words, before, after, way),
        told,
        stand.left,
        stand.lock,
        stand.sold,
    )


def _through(called: Names, way: Way) -> Names:
    """By what names the buyers of the next state go, so that nobody's name has changed."""
    if not way.names:
        return called
    after = [0] * len(called)
    for buyer, name in enumerate(called):
        after[way.names[buyer]] = name
    return tuple(after)


def _by_first_move(graph: Graph, path: Path) -> Names:
    """A is who moves first, then comes B."""
    called = tuple(range(len(graph.automata)))
    if graph.symmetry is None:
        return called
    order: list[int] = []
    through = called
    for _, way in path.ways:
        if way.buyer >= 0 and through[way.buyer] not in order:
            order.append(through[way.buyer])
        through = _through(through, way)
    order += [buyer for buyer in called if buyer not in order]
    return tuple(order.index(buyer) for buyer in called)


def _what(
    graph: Graph, words: Words, before: State, after: State, way: Way
) -> tuple[list[str], list[str]]:
    if way.kind in ("pause", "time"):
        passed = graph.world.now(after.world) - graph.world.now(before.world)
        return [f"{passed / 1000:.1f} s" if passed >= SECOND else f"{passed} ms"], []
    if way.kind in ("crash", "failover", "again"):
        return [], []
    node = graph.automata[way.buyer].nodes[before.nodes[way.buyer]]
    request = node.requests[way.strand]
    if isinstance(request, Send):
        return words.of(
            request, graph.world.send(before.world, request.connection, request.commands).said
        )
    heard = (
        graph.world.hear(before.world, request.connection) if isinstance(request, Hear) else None
    )
    return words.of(request, heard.said if heard else None)
