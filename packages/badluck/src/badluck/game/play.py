"""A schedule that a player chooses step by step, and the steps that are possible next.

It is written as a short word, so that a link can hold it. `A`: A takes a step. `A1`: A's first
renewal takes one. `t`: time passes. `aA`: a late command of A arrives. Faults have the letters of
badluck/faults/: `lA` A's step is done and its reply is lost, `xA` A crashes, `p` all pause (`p1`:
until the next event but one). `ABp` is three steps.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from badluck.actor.request import Done, Failed, Hear, Send
from badluck.errors import BadluckError
from badluck.faults import FAULTS, Faults
from badluck.findings.endless_wait import STUCK
from badluck.game.board import Board
from badluck.game.memory import memories
from badluck.report.trace import Step, steps_of
from badluck.search.names import LETTERS
from badluck.search.paths import cost
from badluck.search.state import CRASHED, SystemState, Transition
from badluck.target import Target

LONGEST = 300  # moves; the longest shortest schedule has some thirty
OF_ONE = {"goes": "", "arrives": "a"} | {
    fault.name: fault.letter for fault in FAULTS.values() if fault.befalls_one
}
OF_ALL = {"time": "t"} | {
    fault.name: fault.letter for fault in FAULTS.values() if not fault.befalls_one
}
MOVE = re.compile(
    f"[{''.join(OF_ONE.values())}]?[{LETTERS}][1-9]?|[{''.join(OF_ALL.values())}][1-9]?"
)


class Impossible(BadluckError):
    """The move `nth` (from 1) of a schedule cannot be made; 0: it is no schedule at all."""

    def __init__(self, nth: int, move: str) -> None:
        super().__init__(f"move {nth}, {move!r:.20}, is not possible there")
        self.nth = nth
        self.move = move


@dataclass(frozen=True)
class PlayedStep:
    """A step that was made, the state after it, and the rules that are broken there."""

    number: int
    step: Step | None  # None: this is the beginning
    broken: list[str]


def split(schedule: str) -> list[str]:
    """Split a schedule into its moves. Raises Impossible."""
    moves = MOVE.findall(schedule)
    if "".join(moves) != schedule or len(moves) > LONGEST:
        raise Impossible(0, schedule)
    return moves


def choices(board: Board, number: int) -> dict[str, Transition]:
    """Return the transitions from a state, by their notation."""
    return _by_move(board.onward(number))


def _chosen(board: Board, number: int, move: str) -> Transition | None:
    """Return the transition of that notation."""
    return _by_move(board.onward(number) if move == "t" else board.immediate(number)).get(move)


def _by_move(edges: Sequence[Transition]) -> dict[str, Transition]:
    by_move: dict[str, Transition] = {}
    for edge in edges:
        if edge.kind in OF_ONE:
            by_move[f"{OF_ONE[edge.kind]}{LETTERS[edge.actor]}{edge.fiber or ''}"] = edge
        else:
            nth = sum(known.kind == edge.kind for known in by_move.values())
            by_move[f"{OF_ALL[edge.kind]}{nth or ''}"] = edge
    return by_move


def spelled(board: Board, steps: Sequence[Step]) -> str:
    """Write a schedule of the search as a short word."""
    number, at, moves = 0, 0, []
    for step in steps:
        move, edge = next(
            (move, edge)
            for move, edge in choices(board, number).items()
            if edge.kind == step.does
            and (edge.actor < 0 or (LETTERS[edge.actor], edge.fiber) == (step.actor, step.fiber))
            and at + board.took(number, edge) == step.at
        )
        moves.append(move)
        at = step.at
        number = edge.to
    return "".join(moves)


def play(board: Board, schedule: str) -> dict[str, Any]:
    """Return all states of a schedule, and the possible next steps. Raises Impossible, TooMany."""
    moves = split(schedule)
    edges = _edges(board, moves)
    taken = [edge for _, edge in edges]
    places = [
        PlayedStep(0, None, []),
        *(
            PlayedStep(edge.to, step, board.judge.after(number, edge))
            for (number, edge), step in zip(edges, steps_of(board, board.judge, edges), strict=True)
        ),
    ]
    last = places[-1].number
    if board.stuck(last):
        places[-1].broken.append(STUCK.name)
    shown = [
        _shown(board, place) | {"cost": list(cost(taken[:nth]))} for nth, place in enumerate(places)
    ]
    for place, remembered in zip(shown, memories(board, taken), strict=True):
        for actor, memory in zip(place["actors"], remembered, strict=True):
            actor |= memory
    return {
        "moves": moves,
        "places": shown,
        "wrong": _gravest(board.judge.target, shown),
        "choices": [_choice(board, last, *choice) for choice in choices(board, last).items()],
        "faults": {
            kind: sum(edge.kind == kind for edge in taken) for kind in sorted(Faults._fields)
        },
        "over": board.over(board.states[last]),
    }


def _edges(board: Board, moves: Sequence[str]) -> list[tuple[int, Transition]]:
    """Return each move's edge, with the state that it leads from. Raises Impossible."""
    number, edges = 0, list[tuple[int, Transition]]()
    for nth, move in enumerate(moves, 1):
        edge = _chosen(board, number, move)
        if edge is None:
            raise Impossible(nth, move)
        edges.append((number, edge))
        number = edge.to
    return edges


def _gravest(target: Target, places: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the gravest broken rule, and the cost at which it first broke."""
    for rule in target.rules:
        for place in places:
            if rule.name in place["found"]:
                return {"name": rule.name, "cost": place["cost"]}
    return None


def _shown(board: Board, place: PlayedStep) -> dict[str, Any]:
    state = board.states[place.number]
    return {
        "step": place.step.document() if place.step else None,
        "found": place.broken,
        "at": place.step.at if place.step else 0,
        "shown": board.judge.target.shown(board.judge.book(state.servers)),
        "actors": [_actor(board, state, actor) for actor in range(len(state.nodes))],
    }


def _actor(board: Board, state: SystemState, actor: int) -> dict[str, Any]:
    """`waits`: what each of its fibers is about to do, or polls for; `spots`: its lines."""
    at = state.nodes[actor]
    shown: dict[str, Any] = {"name": LETTERS[actor], "crashed": at == CRASHED}
    if at == CRASHED:
        return shown | {"told": "", "inside": False, "waits": []}
    node = board.automata[actor].nodes[at]
    vain = _in_vain(board, state, actor)
    words = board.judge.target.code.words
    waits = [
        {
            "fiber": fiber,
            "does": type(request).__name__.lower(),
            "lines": words.of(request, None)[0] if isinstance(request, Send) else [],
            "said": vain.get(fiber, []),
            "vain": fiber in vain,
            "spots": [list(spot) for spot in node.stands[fiber]],
        }
        for fiber, request in enumerate(node.requests)
        if not isinstance(request, Done | Failed)
    ]
    return shown | {"told": node.outcome, "inside": node.inside, "waits": waits}


def _in_vain(board: Board, state: SystemState, actor: int) -> dict[int, list[str]]:
    """Return the fibers whose poll changes nothing, with their answers."""
    replies: dict[int, list[str]] = {}
    servers, at = state.servers, state.nodes[actor]
    node, words = board.automata[actor].nodes[at], board.judge.target.code.words
    for successor in board.moves.of(state, actor):
        request = node.requests[successor.fiber]
        if (successor.servers, successor.node) == (servers, at):
            reply = None
            if isinstance(request, Send):
                reply = board.servers.send(servers, request.connection, request.commands).replies
            replies[successor.fiber] = words.of(request, reply)[1]
    for fiber, request in enumerate(node.requests):
        if isinstance(request, Hear) and board.servers.hear(servers, request.connection) is None:
            replies.setdefault(fiber, [])
    return replies


def _choice(board: Board, number: int, move: str, edge: Transition) -> dict[str, Any]:
    return {
        "move": move,
        "kind": edge.kind,
        "actor": LETTERS[edge.actor] if edge.actor >= 0 else "",
        "fiber": edge.fiber,
        "passes": board.took(number, edge),
    }
