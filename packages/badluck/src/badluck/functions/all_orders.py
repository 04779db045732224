"""What of a schedule only a look at all orders can tell: whose the locks are."""

from __future__ import annotations

from collections.abc import Sequence

from badluck.findings.inferred_lock_rules import DELETED_BY_ANOTHER
from badluck.findings.judge import Judge
from badluck.findings.lock_tracker import LockTracker
from badluck.findings.rule import GraphRule
from badluck.game.board import Board
from badluck.search.graph import Graph, TooMany
from badluck.search.paths import Goal
from badluck.search.state import Transition

MAX_STATES = 500_000  # states, as many as of a search

Ways = Sequence[tuple[int, Transition]]


def judged(board: Board, ways: Ways) -> tuple[list[str], int, bool]:
    """What is the case, after how many of the `ways`; and is all known that tells it?

    All orders with the faults of the schedule are looked at, of code that has what may be a lock.
    """
    if not LockTracker(board, board.judge.target.lock_key).likely:
        return [], len(ways), True
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
    same = _same(board, graph, ways)
    reached: list[set[Goal]] = [{0}]
    reached += [{step, step[1].to} for step in same]
    for steps, goals in enumerate(reached):
        if found := [name for name, places in where.items() if places & goals]:
            return found, steps, True
    if DELETED_BY_ANOTHER in rules and (steps := judge.held.deletes_anothers(same)):
        return [DELETED_BY_ANOTHER.name], steps, True
    return [], len(ways), sure


def _same(board: Board, graph: Graph, ways: Ways) -> list[tuple[int, Transition]]:
    """Of each step the same way in the graph; fewer, where not all was looked at."""
    at = 0
    found: list[tuple[int, Transition]] = []
    for number, way in ways:
        if way.to == number:  # asked in vain
            found.append((at, way._replace(to=at)))
            continue
        same = [one for one in graph.ways[at] if one[:3] == way[:3]]
        if not same:
            break
        took = board.took(number, way)
        nearest = min(same, key=lambda one, at=at: abs(graph.took(at, one) - took))  # type: ignore[misc]
        found.append((at, nearest))
        at = nearest.to
    return found
