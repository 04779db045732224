"""A schedule, step by step: the actor, what went over the wire, and the values afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from badluck.actor.command_text import CommandText
from badluck.actor.request import Hear, Request, Send
from badluck.faults import FAULTS, Faults
from badluck.faults.fault import Tells
from badluck.findings.judge import Judge
from badluck.search.graph import Graph
from badluck.search.names import Names
from badluck.search.paths import Path
from badluck.search.state import CRASHED, SystemState, Transition
from badluck.target import Shown

Edges = Sequence[tuple[int, Transition]]
SECOND = 1_000  # ms
JSON_NAMES = {"replies": "said", "outcome": "told"}  # as saved schedules have them
TELLS: dict[str, Tells] = {  # of steps that are no fault
    "goes": "command and reply",
    "arrives": "command and reply",
    "time": "duration",
    "again": "nothing",
}


class Step(NamedTuple):
    """`does`: goes, arrives (what was in flight), time, again (it starts again), or a fault's name.

    In SQL: goes, blocks (it waits for the other), goes on (it need not wait any more).
    """

    actor: str  # "" for a step without an actor
    fiber: int  # 0 its work, 1... its further fibers
    does: str
    at: int  # ms since the schedule began, when it is done
    lines: list[str]  # the commands, or a description of the step
    replies: list[str]
    outcome: str  # the actor's, if this was its last step
    shown: Shown
    line: str = ""  # of a user's code that did it: `bank.py:4`

    def document(self) -> dict[str, Any]:
        """Convert to JSON."""
        members = {JSON_NAMES.get(name, name): value for name, value in self._asdict().items()}
        return {name: value for name, value in members.items() if name != "line" or value}

    @classmethod
    def of_document(cls, members: Mapping[str, Any]) -> Step:
        return cls(
            **{name: members[JSON_NAMES.get(name, name)] for name in cls._fields[:-1]},
            line=members.get("line", ""),
        )


def trace(graph: Graph, judge: Judge, path: Path) -> list[Step]:
    return without_unheard(list(steps_of(graph, judge, path.edges)))


def faults_of(steps: Sequence[Step]) -> Faults:
    return Faults(**Counter(step.does for step in steps if step.does in FAULTS))


def without_unheard(steps: Sequence[Step]) -> list[Step]:
    """Return the steps without outcomes that are lost in a later crash."""
    return [
        step._replace(outcome="") if is_unheard(steps, nth) else step
        for nth, step in enumerate(steps)
    ]


def is_unheard(steps: Sequence[Step], nth: int) -> bool:
    """Does that step's actor crash later? Then its outcome reaches no caller."""
    return any(
        later.does in FAULTS and FAULTS[later.does].ends_its_actor
        for later in steps[nth + 1 :]
        if later.actor == steps[nth].actor
    )


def steps_of(graph: Graph, judge: Judge, edges: Edges) -> Iterator[Step]:
    """Yield the steps of a path from the beginning."""
    called = _by_first_move(graph, edges)
    after = graph.called(graph.states[0], called)
    at = 0
    for number, edge in edges:
        before = after
        actor = called[edge.actor] if edge.actor >= 0 else -1
        called = _through(called, edge)
        after = graph.called(graph.states[edge.to], called)
        took = graph.took(number, edge)
        at += took
        yield _step(graph, judge, before, after, edge._replace(actor=actor), took, at)


def _step(
    graph: Graph,
    judge: Judge,
    before: SystemState,
    after: SystemState,
    edge: Transition,
    took: int,
    at: int,
) -> Step:
    """Return the step of an `edge` from the state `before` to `after`, which use the actors' own
    names.

    It `took` so long, and is done `at`; both in ms, `at` since the schedule began.
    """
    actor = edge.actor
    outcome = ""
    if actor >= 0 and after.nodes[actor] != CRASHED:
        nodes = graph.automata[actor].nodes
        outcome = "" if nodes[before.nodes[actor]].outcome else nodes[after.nodes[actor]].outcome
    return Step(
        graph.automata[actor].name if actor >= 0 else "",
        edge.fiber,
        edge.kind,
        at,
        *_what(graph, judge.target.code.words, before, edge, took),
        outcome,
        judge.target.shown(judge.book(after.servers)),
        _line(graph, judge, before, edge) if actor >= 0 else "",
    )


def _line(graph: Graph, judge: Judge, before: SystemState, edge: Transition) -> str:
    """Return the user's line where the actor stood; "" for a command that arrives later."""
    if judge.target.code.shown or edge.kind in ("arrives", "again"):
        return ""
    stands = graph.automata[edge.actor].nodes[before.nodes[edge.actor]].stands[edge.fiber]
    return "".join(f"{PurePath(path).name}:{line}" for path, line in stands)


def _through(called: Names, edge: Transition) -> Names:
    """Return the actors' names in the next state, so that each actor keeps its name."""
    if not edge.names:
        return called
    after = [0] * len(called)
    for actor, name in enumerate(called):
        after[edge.names[actor]] = name
    return tuple(after)


def _by_first_move(graph: Graph, edges: Edges) -> Names:
    """Return names by which A moves first, then B."""
    called = tuple(range(len(graph.automata)))
    if graph.symmetry is None:
        return called
    order: list[int] = []
    through = called
    for _, edge in edges:
        if edge.actor >= 0 and through[edge.actor] not in order:
            order.append(through[edge.actor])
        through = _through(through, edge)
    order += [actor for actor in called if actor not in order]
    return tuple(order.index(actor) for actor in called)


def _what(
    graph: Graph, words: CommandText, before: SystemState, edge: Transition, took: int
) -> tuple[list[str], list[str]]:
    tells = FAULTS[edge.kind].tells if edge.kind in FAULTS else TELLS[edge.kind]
    if tells == "duration":
        return [f"{took / SECOND:.1f} s" if took >= SECOND else f"{took} ms"], []
    if tells == "nothing":
        return [], []
    request: Request
    if edge.kind == "arrives":
        request = before.sent_by(graph.automata[edge.actor].name)[edge.fiber]
    else:
        request = graph.automata[edge.actor].nodes[before.nodes[edge.actor]].requests[edge.fiber]
    if isinstance(request, Send):
        reply = graph.servers.send(before.servers, *request).replies
        return words.of(request, () if tells == "command" else reply)
    heard = (
        graph.servers.hear(before.servers, request.connection)
        if isinstance(request, Hear)
        else None
    )
    return words.of(request, heard.replies if heard else None)
