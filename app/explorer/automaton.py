"""What a buyer's code does, learned by running it: after these answers it asks that.

The code is a function of the answers (and of the clock, where it looks at it), so a history has to
be run once. The search walks over nodes, thousands of times a second, and Python runs only where
nobody has been.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from app.explorer.buyer import Buyer
from app.explorer.gate import Done, Failed, Request

ANY = -1  # in place of the clock: the code did not look at it


class Move(NamedTuple):
    """Where an answer leads, and which connections the code closed on the way."""

    to: int
    closed: tuple[str, ...]


@dataclass(slots=True)
class Node:
    """A place in a buyer's code: all that has been answered so far."""

    request: Request
    history: tuple[tuple[Any, int], ...]
    moves: dict[tuple[Any, int], Move] = field(default_factory=dict)


class Automaton:
    """One buyer's."""

    def __init__(self, name: str, work: Callable[[Buyer], Any], now: int) -> None:
        self.name = name
        self.work = work
        self.now = now
        self.runs = 0
        self.nodes: list[Node] = []
        self.live: dict[int, Buyer] = {}  # buyers that stand at a node at this moment
        self._add(self._fresh(), ())

    def request(self, at: int) -> Request:
        return self.nodes[at].request

    def move(self, at: int, answer: Any, now: int) -> Move:
        node = self.nodes[at]
        found = node.moves.get((answer, ANY)) or node.moves.get((answer, now))
        if found:
            return found
        buyer = self.live.pop(at, None) or self._again(node)
        buyer.go_on(answer, now)
        # Learn it by itself if the code asked for the time; else it holds at any time.
        key = (answer, now if buyer.looked else ANY)
        found = Move(self._add(buyer, (*node.history, (answer, now))), tuple(buyer.gone))
        node.moves[key] = found
        return found

    def _fresh(self) -> Buyer:
        self.runs += 1
        return Buyer(self.name, self.work, self.now)

    def _again(self, node: Node) -> Buyer:
        buyer = self._fresh()
        for answer, now in node.history:
            buyer.go_on(answer, now)
        if buyer.request != node.request:
            raise RuntimeError(f"{self.name} does not do the same again: {buyer.request}")
        return buyer

    def _add(self, buyer: Buyer, history: tuple[tuple[Any, int], ...]) -> int:
        self.nodes.append(Node(buyer.request, history))
        if not isinstance(buyer.request, Done | Failed):
            self.live[len(self.nodes) - 1] = buyer
        return len(self.nodes) - 1
