"""A schedule followed once more, in the child of a test: its moves, wherever they lead today."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from badluck.findings.endless_wait import STUCK
from badluck.frames.source_position import SourceLine
from badluck.functions.all_orders import judged
from badluck.game.board import Board
from badluck.report.trace import Step, faults_of, steps_of, without_unheard
from badluck.sandbox.job import FollowJob
from badluck.sandbox.worker import SandboxWorker
from badluck.search.graph import TooMany
from badluck.search.names import LETTERS
from badluck.search.paths import cost
from badluck.search.state import BY_ITSELF, CRASHED, Transition


class ScheduleCheck(SandboxWorker):
    """Does also that."""

    def does(self) -> dict[str, Any]:
        if not isinstance(self.job, FollowJob):
            return super().does()
        self.watch.begin()
        with self.job.target.surroundings():
            board = Board(self.job.target, self.job.actors, faults_of(self.job.steps))
            self.watch.explorer = board.explorer  # it is stopped when the time is over
            return _followed(self.job, board)


def _followed(job: FollowJob, board: Board) -> dict[str, Any]:
    """Until something is found, or a move cannot be made.

    `finding` is "" when nothing is; `spots`: the line from which each step was taken, if any;
    `sure`: in the time it could be told.
    """
    number, at, ways = 0, 0, list[tuple[int, Transition]]()
    found = list(board.judge.seen)
    for one in job.steps:
        way = None if found else _way(board, number, one, one.at - at)
        if way is None:
            break
        at += board.took(number, way)
        ways.append((number, way))
        found = board.judge.after(number, way)
        number = way.to
    if not found and len(ways) == len(job.steps) and _for_ever(board, number):
        found = [STUCK.name]
    sure = True
    if not found:
        found, steps, sure = judged(board, ways)
        ways = ways[:steps]
    explained = {rule.name: rule.explanation for rule in job.target.rules}
    return {
        "finding": found[0] if found else "",
        "explanation": explained[found[0]] if found else "",
        "cost": list(cost([way for _, way in ways])),
        "steps": [one._asdict() for one in without_unheard([*steps_of(board, board.judge, ways)])],
        "spots": [_spot(board, *each) for each in ways],
        "sure": sure,
    }


def _for_ever(board: Board, number: int) -> bool:
    """Can no step that happens by itself bring all to their ends? See findings/endless_wait.py."""
    todo, seen = [number], {number}
    with suppress(TooMany):
        for at in todo:
            if board.over(board.states[at]):
                return False
            ways = (way.to for way in board.on(at) if way.kind in BY_ITSELF)
            todo += [to for to in dict.fromkeys(ways) if to not in seen]
            seen.update(todo)
        return True
    return False


def _way(board: Board, number: int, one: Step, took: int) -> Transition | None:
    """The same move from that state; of several the one that takes about as long, ms."""
    ways = board.on(number) if one.does == "time" else board.at_once(number)
    same = [
        way
        for way in ways
        if way.kind == one.does
        and (way.actor < 0 or (LETTERS[way.actor], way.fiber) == (one.actor, one.fiber))
    ]
    if same:
        return min(same, key=lambda way: abs(board.took(number, way) - took))
    return _in_vain(board, number, one) if one.does == "goes" else None


def _in_vain(board: Board, number: int, one: Step) -> Transition | None:
    """Who asks in vain is where it was: no way of the search."""
    state, actor = board.states[number], LETTERS.index(one.actor)
    if actor >= len(state.nodes) or state.nodes[actor] == CRASHED:
        return None
    steps = board.moves.of(state, actor)
    if not any(each.fiber == one.fiber for each in steps):
        return None
    return Transition("goes", actor, one.fiber, number)


def _spot(board: Board, number: int, way: Transition) -> SourceLine | None:
    """The line of the project's code that waits there."""
    if way.actor < 0 or way.kind == "arrives":
        return None
    node = board.automata[way.actor].nodes[board.states[number].nodes[way.actor]]
    return next(iter(node.stands[way.fiber]), None)
