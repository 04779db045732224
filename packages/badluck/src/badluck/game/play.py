"""A schedule that somebody chooses step by step, and what can be done next.

It is written as a short word, so that a link can hold it: `A` goes, `A1` its first renewal goes,
`t` time passes, `aA` what A has sent too late arrives. Faults have the letters that they say in
badluck/faults/: `lA` A goes and its reply is lost, `xA` it crashes, `p` all pause (`p1`: until the
next thing but one). `ABp` is three steps.
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
from badluck.search.state import CRASHED, State, Transition
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
class Place:
    """Where all stand after some steps: a state, and what led there."""

    number: int
    step: Step | None  # None: this is the beginning
    found: list[str]


def split(schedule: str) -> list[str]:
    """Its moves. Raises Impossible."""
    moves = MOVE.findall(schedule)
    if "".join(moves) != schedule or len(moves) > LONGEST:
        raise Impossible(0, schedule)
    return moves


def choices(board: Board, number: int) -> dict[str, Transition]:
    """What can be done in a state, by how it is written."""
    return _written(board.on(number))


def _one(board: Board, number: int, move: str) -> Transition | None:
    """What can be done there by that name."""
    return _written(board.on(number) if move == "t" else board.at_once(number)).get(move)


def _written(ways: Sequence[Transition]) -> dict[str, Transition]:
    found: dict[str, Transition] = {}
    for way in ways:
        if way.kind in OF_ONE:
            found[f"{OF_ONE[way.kind]}{LETTERS[way.actor]}{way.fiber or ''}"] = way
        else:
            nth = sum(known.kind == way.kind for known in found.values())
            found[f"{OF_ALL[way.kind]}{nth or ''}"] = way
    return found


def spelled(board: Board, steps: Sequence[Step]) -> str:
    """A schedule of the search, as it is written."""
    number, at, moves = 0, 0, []
    for one in steps:
        move, way = next(
            (move, way)
            for move, way in choices(board, number).items()
            if way.kind == one.does
            and (way.actor < 0 or (LETTERS[way.actor], way.fiber) == (one.actor, one.fiber))
            and at + board.took(number, way) == one.at
        )
        moves.append(move)
        at = one.at
        number = way.to
    return "".join(moves)


def play(board: Board, schedule: str) -> dict[str, Any]:
    """All places of a schedule, and what can be done at its end. Raises Impossible, TooMany."""
    moves = split(schedule)
    ways = _ways(board, moves)
    taken = [way for _, way in ways]
    places = [
        Place(0, None, []),
        *(
            Place(way.to, one, board.judge.after(number, way))
            for (number, way), one in zip(ways, steps_of(board, board.judge, ways), strict=True)
        ),
    ]
    last = places[-1].number
    if board.stuck(last):
        places[-1].found.append(STUCK.name)
    shown = [
        _shown(board, place) | {"cost": list(cost(taken[:nth]))} for nth, place in enumerate(places)
    ]
    for there, remembered in zip(shown, memories(board, taken), strict=True):
        for actor, memory in zip(there["actors"], remembered, strict=True):
            actor |= memory
    return {
        "moves": moves,
        "places": shown,
        "wrong": _gravest(board.judge.target, shown),
        "choices": [_choice(board, last, *choice) for choice in choices(board, last).items()],
        "faults": {kind: sum(way.kind == kind for way in taken) for kind in sorted(Faults._fields)},
        "over": board.over(board.states[last]),
    }


def _ways(board: Board, moves: Sequence[str]) -> list[tuple[int, Transition]]:
    """Those of the moves, each with the state that it leads from. Raises Impossible."""
    number, ways = 0, list[tuple[int, Transition]]()
    for nth, move in enumerate(moves, 1):
        way = _one(board, number, move)
        if way is None:
            raise Impossible(nth, move)
        ways.append((number, way))
        number = way.to
    return ways


def _gravest(target: Target, places: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Of all that has gone wrong; and at what cost, when it was first so."""
    for rule in target.rules:
        for place in places:
            if rule.name in place["found"]:
                return {"name": rule.name, "cost": place["cost"]}
    return None


def _shown(board: Board, place: Place) -> dict[str, Any]:
    state = board.states[place.number]
    return {
        "step": place.step.document() if place.step else None,
        "found": place.found,
        "at": place.step.at if place.step else 0,
        "shown": board.judge.target.shown(board.judge.book(state.servers)),
        "actors": [_actor(board, state, actor) for actor in range(len(state.nodes))],
    }


def _actor(board: Board, state: State, actor: int) -> dict[str, Any]:
    """`waits`: what each of its fibers is about to do, or does in vain; `spots`: its lines."""
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
    return shown | {"told": node.told, "inside": node.inside, "waits": waits}


def _in_vain(board: Board, state: State, actor: int) -> dict[int, list[str]]:
    """Fibers that ask, and are where they were; with what they are answered."""
    found = {}
    servers, at = state.servers, state.nodes[actor]
    node, words = board.automata[actor].nodes[at], board.judge.target.code.words
    for successor in board.moves.of(state, actor):
        request = node.requests[successor.fiber]
        if (successor.servers, successor.node) == (servers, at):
            said = None
            if isinstance(request, Send):
                said = board.servers.send(servers, request.connection, request.commands).said
            found[successor.fiber] = words.of(request, said)[1]
    for fiber, request in enumerate(node.requests):
        if isinstance(request, Hear) and board.servers.hear(servers, request.connection) is None:
            found.setdefault(fiber, [])
    return found


def _choice(board: Board, number: int, move: str, way: Transition) -> dict[str, Any]:
    return {
        "move": move,
        "kind": way.kind,
        "actor": LETTERS[way.actor] if way.actor >= 0 else "",
        "fiber": way.fiber,
        "passes": board.took(number, way),
    }
