"""A saved schedule followed again, in the child of a test: its moves with today's code."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from badluck.findings.endless_wait import STUCK
from badluck.findings.inferred_lock_rules import DELETED_BY_ANOTHER
from badluck.findings.judge import Judge
from badluck.findings.lock_tracker import LockTracker
from badluck.frames.source_position import SourceLine
from badluck.game.board import Board
from badluck.report.trace import Step, faults_of, steps_of, without_unheard
from badluck.rule import GraphRule
from badluck.sandbox.job import FollowJob
from badluck.sandbox.worker import SandboxWorker
from badluck.search.graph import Graph
from badluck.search.names import LETTERS
from badluck.search.paths import Goal, cost
from badluck.search.state import BY_ITSELF, CRASHED, Transition
from badluck.search.state_table import TooMany

MAX_STATES = 500_000  # states, as many as in a search

Edges = Sequence[tuple[int, Transition]]


class ScheduleCheck(SandboxWorker):
    """A worker that also follows schedules."""

    def does(self) -> dict[str, Any]:
        if not isinstance(self.job, FollowJob):
            return super().does()
        self.watch.begin()
        with self.job.target.surroundings():
            board = Board(self.job.target, self.job.actors, faults_of(self.job.steps))
            self.watch.explorer = board.explorer  # it is stopped when the time is over
            return _followed(self.job, board)


def _followed(job: FollowJob, board: Board) -> dict[str, Any]:
    """Follow the schedule until a rule is broken, or a move cannot be made.

    `finding` is "" if no rule is broken. `spots`: the line from which each step was taken, if any.
    `sure`: the time was enough to judge.
    """
    number, at, edges = 0, 0, list[tuple[int, Transition]]()
    broken = list(board.judge.seen)
    for step in job.steps:
        edge = None if broken else _same_move(board, number, step, step.at - at)
        if edge is None:
            break
        at += board.took(number, edge)
        edges.append((number, edge))
        broken = board.judge.after(number, edge)
        number = edge.to
    if not broken and len(edges) == len(job.steps) and _for_ever(board, number):
        broken = [STUCK.name]
    sure = True
    if not broken:
        broken, steps, sure = judged(board, edges)
        edges = edges[:steps]
    explained = {rule.name: rule.explanation for rule in job.target.rules}
    return {
        "finding": broken[0] if broken else "",
        "explanation": explained[broken[0]] if broken else "",
        "cost": list(cost([edge for _, edge in edges])),
        "steps": [
            step._asdict() for step in without_unheard([*steps_of(board, board.judge, edges)])
        ],
        "spots": [_spot(board, *each) for each in edges],
        "sure": sure,
    }


def _for_ever(board: Board, number: int) -> bool:
    """Can no step that happens by itself lead all actors to their ends? See
    findings/endless_wait.py.
    """
    todo, visited = [number], {number}
    with suppress(TooMany):
        for at in todo:
            if board.over(board.states[at]):
                return False
            edges = (edge.to for edge in board.onward(at) if edge.kind in BY_ITSELF)
            todo += [to for to in dict.fromkeys(edges) if to not in visited]
            visited.update(todo)
        return True
    return False


def _same_move(board: Board, number: int, one: Step, took: int) -> Transition | None:
    """Return the same move from that state; of several the one that takes a similar time, in ms."""
    edges = board.onward(number) if one.does == "time" else board.immediate(number)
    same = [
        edge
        for edge in edges
        if edge.kind == one.does
        and (edge.actor < 0 or (LETTERS[edge.actor], edge.fiber) == (one.actor, one.fiber))
    ]
    if same:
        return min(same, key=lambda edge: abs(board.took(number, edge) - took))
    return _in_vain(board, number, one) if one.does == "goes" else None


def _in_vain(board: Board, number: int, one: Step) -> Transition | None:
    """Return a step that changes nothing, for which the search has no edge."""
    state, actor = board.states[number], LETTERS.index(one.actor)
    if actor >= len(state.nodes) or state.nodes[actor] == CRASHED:
        return None
    steps = board.moves.of(state, actor)
    if not any(each.fiber == one.fiber for each in steps):
        return None
    return Transition("goes", actor, one.fiber, number)


def _spot(board: Board, number: int, edge: Transition) -> SourceLine | None:
    """Return the line of the project's code that waits there."""
    if edge.actor < 0 or edge.kind == "arrives":
        return None
    node = board.automata[edge.actor].nodes[board.states[number].nodes[edge.actor]]
    return next(iter(node.stands[edge.fiber]), None)


def judged(board: Board, edges: Edges) -> tuple[list[str], int, bool]:
    """Return the broken rules, after how many of the `edges`, and whether the search was complete.

    For code that has a possible lock, all orders with the schedule's faults are searched.
    """
    if not LockTracker(board, board.judge.target.lock_key).likely:
        return [], len(edges), True
    graph = Graph(board.moves, board.states[0].left, board.pauses, MAX_STATES)
    board.explorer.graph = graph
    try:
        graph.explore()
        sure = True
    except TooMany:
        sure = False
    judge = Judge(graph, board.judge.target)
    rules = [rule for rule in judge.target.rules if isinstance(rule, GraphRule)]
    where = {rule.name: rule.where(judge) for rule in rules}
    same = _same(board, graph, edges)
    reached: list[set[Goal]] = [{0}]
    reached += [{step, step[1].to} for step in same]
    for steps, goals in enumerate(reached):
        if broken := [name for name, places in where.items() if places & goals]:
            return broken, steps, True
    if DELETED_BY_ANOTHER in rules and (steps := judge.lock_tracker.deletes_anothers(same)):
        return [DELETED_BY_ANOTHER.name], steps, True
    return [], len(edges), sure


def _same(board: Board, graph: Graph, edges: Edges) -> list[tuple[int, Transition]]:
    """Return each step's edge in the graph; fewer, where the search is incomplete."""
    at = 0
    broken: list[tuple[int, Transition]] = []
    for number, edge in edges:
        if edge.to == number:  # a poll that changed nothing
            broken.append((at, edge._replace(to=at)))
            continue
        same = [step for step in graph.edges[at] if step[:3] == edge[:3]]
        if not same:
            break
        took = board.took(number, edge)
        nearest = min(same, key=lambda one, at=at: abs(graph.took(at, one) - took))  # type: ignore[misc]
        broken.append((at, nearest))
        at = nearest.to
    return broken
