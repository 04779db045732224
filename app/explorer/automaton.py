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
from app.explorer.fingerprint import Look, fingerprint
from app.explorer.request import Done, Failed, Request, outcome

ANY = -1  # in place of the clock: the code did not look at it
# So often a loop is run after it was seen to be one, where something might count out of sight: who
# gives up after more tries than that, with nothing to show how many they were, seems to go on.
ROUNDS = 100


class NotAgain(RuntimeError):
    """The code does something else when it is answered the same."""


class Answer(NamedTuple):
    """What one strand was told, and when."""

    strand: int
    said: Any
    now: int  # ms since 1970, or ANY


class Move(NamedTuple):
    """Where an answer leads, and which connections the code closed on the way."""

    to: int
    closed: tuple[str, ...]


@dataclass(slots=True)
class Node:
    """A place in a buyer's code: all that has been answered so far."""

    requests: tuple[Request, ...]  # one a strand
    parent: int  # -1: this is where it begins
    came_by: Answer | None
    looks: tuple[Look, ...]  # the strands'
    inside: bool  # a critical section
    tells_time: bool  # compares what time it is
    open: tuple[str, ...]  # connections
    moves: dict[Answer, Move] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        return isinstance(self.requests[0], Done | Failed)

    @property
    def told(self) -> str:
        """The outcome; "" as long as there is none."""
        return outcome(self.requests[0])


class Automaton:
    """One buyer's."""

    def __init__(self, name: str, work: Callable[[Buyer], str], now: int) -> None:
        self.name = name
        self.work = work
        self.now = now
        self.runs = 0
        self.nodes: list[Node] = []
        self.orders: dict[object, int] = {}  # see _told_apart
        self.live: dict[int, Buyer] = {}  # buyers that stand at a node at this moment
        self._add(self._fresh(), -1, None)

    def move(self, at: int, strand: int, said: Any, now: int) -> Move:
        node = self.nodes[at]
        found = node.moves.get(Answer(strand, said, ANY)) or node.moves.get(
            Answer(strand, said, now)
        )
        if found:
            return found
        buyer = self.live.pop(at, None) or self._again(at)
        buyer.go_on(strand, said, now)
        closed = tuple(buyer.closed)
        answer = Answer(strand, said, now)
        to = self._add(buyer, at, answer)
        # Learn it by itself if the code asked for the time; else it holds at any time.
        known = answer if buyer.looked else Answer(strand, said, ANY)
        node.moves[known] = Move(to, closed)
        return node.moves[known]

    def _fresh(self) -> Buyer:
        self.runs += 1
        return Buyer(self.name, self.work, self.now)

    def _again(self, at: int) -> Buyer:
        """A buyer that stands there: all answers once more."""
        buyer = self._fresh()
        for answer in self.history(at):
            buyer.go_on(*answer)
        if buyer.requests != self.nodes[at].requests:
            raise NotAgain(
                f"{self.name} does not do the same again: {buyer.requests} instead of "
                f"{self.nodes[at].requests}"
            )
        return buyer

    def history(self, at: int) -> list[Answer]:
        answers = []
        while (came_by := self.nodes[at].came_by) is not None:
            answers.append(came_by)
            at = self.nodes[at].parent
        return answers[::-1]

    def _add(self, buyer: Buyer, parent: int, came_by: Answer | None) -> int:
        looks = tuple(fingerprint(strand) for strand in buyer.strands)
        requests = buyer.requests
        # Who has come to an end is one, whatever led there.
        over = all(isinstance(request, Done | Failed) for request in requests)
        whole = over or all(look.whole for look in looks)
        told = () if whole else self._told_apart(parent, came_by)
        requests = requests[:1] if over else requests
        if (same := self.orders.get((requests, looks, told))) is not None:
            buyer.drop()
            return same
        at = -1 if whole else parent
        answers = [came_by] if came_by else []
        while at >= 0:
            node = self.nodes[at]
            if node.requests == requests and node.looks == looks:
                if self._loops(buyer, answers[::-1], node):
                    return at
                buyer = self._again(parent)
                buyer.go_on(*came_by)  # type: ignore[misc]
                break
            if node.came_by:
                answers.append(node.came_by)
            at = node.parent
        node = Node(
            requests,
            parent,
            came_by,
            looks,
            buyer.inside(),
            buyer.tells_time,
            tuple(sorted(buyer.open)),
        )
        self.nodes.append(node)
        self.orders[requests, looks, told] = len(self.nodes) - 1
        if not node.ended:
            self.live[len(self.nodes) - 1] = buyer
        return len(self.nodes) - 1

    def _told_apart(self, parent: int, came_by: Answer | None) -> tuple[tuple[object, ...], ...]:
        """What each strand was told, whatever came between.

        Strands of one buyer are told things in many orders, and mostly come to the same. What no
        fingerprint shows of a strand comes of its own answers.
        """
        answers = [*self.history(parent), came_by] if came_by else []
        strands = 1 + max((answer.strand for answer in answers), default=0)
        return tuple(
            tuple((answer.said, answer.now) for answer in answers if answer.strand == strand)
            for strand in range(strands)
        )

    def _loops(self, buyer: Buyer, answers: list[Answer], node: Node) -> bool:
        """Is it the same again after each round? (This buyer is spent by finding out.)"""
        for _ in range(ROUNDS):
            for answer in answers:
                buyer.go_on(*answer)
            if buyer.requests != node.requests or node.looks != tuple(
                fingerprint(strand) for strand in buyer.strands
            ):
                buyer.drop()
                return False
        buyer.drop()
        return True
