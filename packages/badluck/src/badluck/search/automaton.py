"""An actor's behaviour, learned by running its code: which request follows which answers.

The code is a function of the answers (and of the clock, where it looks at it), so each history is
run only once. The search walks over nodes, thousands of times a second. Python runs the code only
for a history that is new.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

from badluck.actor.actor import Actor, Code
from badluck.actor.request import Done, Failed, Hear, Request, Rest, Send, outcome
from badluck.frames.fingerprint import Fingerprint, fingerprint_of
from badluck.frames.source_position import SourceLine, source_lines
from badluck.search.behaviour import ANY, ActorAnswer, Move, Node

SECOND = 1_000  # ms
LATEST = 32 * 86_400_000  # ms; changes that come later are not waited for
NUMBER = re.compile(r"[\d.]+")
# A loop is run so often after it was seen to be one, as it might count out of sight. Code that
# gives up after more tries than that, without a visible counter, seems to continue forever.
ROUNDS = 100


def first_change(now: int, last: int, same: Callable[[int], bool]) -> int | None:
    """Return the first time at which it is not the `same` any more; None: not until the `last`.

    It is searched after one second, two, four …, and then by halves. A difference of a short time
    that is over at all of these is missed.
    """
    step, low = SECOND, now
    while low < last:
        high = min(now + step, last)
        if not same(high):
            while high - low > 1:
                between = (low + high) // 2
                low, high = (between, high) if same(between) else (low, between)
            return high
        low, step = high, 2 * step
    return None


class NotDeterministic(RuntimeError):
    """The code does something else with the same answers: `again`, what it did `once`.

    Both are of the first fiber that differs; `spots` is where that stood.
    """

    def __init__(
        self,
        once: Sequence[Request],
        again: Sequence[Request],
        stands: Sequence[tuple[SourceLine, ...]],
    ) -> None:
        pairs = enumerate(zip_longest(once, again))
        fiber, (self.once, self.again) = next(each for each in pairs if each[1][0] != each[1][1])
        self.spots = stands[fiber] if fiber < len(stands) else ()
        super().__init__(f"{self.again} instead of {self.once}")


def _until(node: Node, round: Sequence[ActorAnswer]) -> int:
    """Return when the sleep ends from which that round begins."""
    request = node.requests[round[0].fiber]
    return (request.until or 0) if isinstance(request, Hear | Rest) else 0


def _what(request: Request) -> object:
    """Return a request without times, and the numbers that may depend on them."""
    if isinstance(request, Send):
        return [command[0] for command in request.commands]
    if isinstance(request, Hear | Rest):
        return request._replace(until=0)
    return NUMBER.sub("0", outcome(request))


class Automaton:
    """The automaton of one actor."""

    def __init__(self, name: str, code: Code, now: int) -> None:
        self.name = name
        self.code = code
        self.now = now
        self.nodes: list[Node] = []
        self.orders: dict[object, int] = {}  # see _told_apart
        self.live: dict[int, Actor] = {}  # actors that are at a node now
        self.counts_time = False
        self._add(self._fresh(), -1, None)

    def move(
        self, at: int, fiber: int, said: Any, now: int, taken: frozenset[int] | None = None
    ) -> Move:
        moves = self.nodes[at].moves
        for known in (
            ActorAnswer(fiber, said, ANY),
            ActorAnswer(fiber, said, now),
            *(
                (ActorAnswer(fiber, said, ANY, taken), ActorAnswer(fiber, said, now, taken))
                if taken is not None
                else ()
            ),
        ):
            if known in moves:
                return moves[known]
        known, moves[known] = self.find_out(at, fiber, said, now, taken)
        return moves[known]

    def find_out(
        self, at: int, fiber: int, said: Any, now: int, taken: frozenset[int] | None
    ) -> tuple[ActorAnswer, Move]:
        """Run the code from the node `at`; return the learned answer, and its move."""
        actor = self.live.pop(at, None) or self._again(at)
        actor.go_on(fiber, said, now, taken)
        closed = tuple(actor.closed)
        # Learn it for this time only, if the code asked for the time or a token; otherwise for all.
        known = ActorAnswer(
            fiber, said, now if actor.looked else ANY, taken if actor.drew else None
        )
        return known, Move(self._add(actor, at, known), closed, actor.asked_time)

    def same_again(self, at: int, to: int, round: Sequence[ActorAnswer]) -> bool:
        first_node, last_node = self.nodes[at], self.nodes[to]
        does = [*map(_what, first_node.requests)]
        if does != [*map(_what, last_node.requests)] or first_node.looks != last_node.looks:
            return False
        if all(look.complete for look in first_node.looks):
            return True
        actor, took = self._again(to), _until(last_node, round) - _until(first_node, round)
        for nth in range(1, 1 + ROUNDS):
            for answer in round:
                actor.go_on(*answer._replace(now=answer.now + nth * took))
            if [*map(_what, actor.requests)] != does:
                break
        same = [*map(_what, actor.requests)] == does and first_node.looks == tuple(
            fingerprint_of(each) for each in actor.fibers
        )
        actor.drop()
        return same

    def _same_way(
        self, at: int, fiber: int, said: Any, now: int, then: int, taken: frozenset[int] | None
    ) -> bool:
        """Does that answer lead to the same kinds of requests, at the same lines, at both times?"""
        first_node, later_node = (
            self.nodes[self.move(at, fiber, said, when, taken).to] for when in (now, then)
        )
        return first_node is later_node or (
            first_node.stands == later_node.stands
            and [*map(_what, first_node.requests)] == [*map(_what, later_node.requests)]
        )

    def turn(
        self, at: int, fiber: int, said: Any, now: int, taken: frozenset[int] | None
    ) -> int | None:
        return first_change(
            now, now + LATEST, lambda when: self._same_way(at, fiber, said, now, when, taken)
        )

    def _fresh(self) -> Actor:
        return Actor(self.name, self.code, self.now)

    def _again(self, at: int) -> Actor:
        """Return an actor at that node, by giving it all answers once more."""
        actor = self._fresh()
        for answer in self.history(at):
            actor.go_on(*answer)
        if actor.requests != self.nodes[at].requests:
            node = self.nodes[at]
            raise NotDeterministic(node.requests, actor.requests, node.stands)
        return actor

    def history(self, at: int) -> list[ActorAnswer]:
        answers = []
        while (came_by := self.nodes[at].came_by) is not None:
            answers.append(came_by)
            at = self.nodes[at].parent
        return answers[::-1]

    def _add(self, actor: Actor, parent: int, came_by: ActorAnswer | None) -> int:
        self.counts_time |= actor.counts_time
        looks = tuple(fingerprint_of(fiber) for fiber in actor.fibers)
        requests = actor.requests
        # All ends are one node, whatever led there.
        over = all(isinstance(request, Done | Failed) for request in requests)
        is_whole = over or all(look.complete for look in looks)
        answers = () if is_whole else self._told_apart(parent, came_by, actor, looks)
        requests = requests[:1] if over else requests
        bound = tuple(sorted(actor.bound))
        # An actor that waits for the clock names no connection, and will use one. A late command on
        # another connection of the same name must not be taken for its own.
        unnamed = (actor.connections, *sorted(actor.open)) if type(requests[0]) is Rest else ()
        key = requests, looks, answers, bound, unnamed
        if (same := self.orders.get(key)) is not None:
            actor.drop()
            return same
        if came_by and not is_whole and (at := self._loop(parent, came_by, requests, looks)) >= 0:
            actor.drop()
            return at
        node = Node(
            requests,
            parent,
            came_by,
            looks,
            actor.inside(),
            actor.waits_for_threads,
            actor.tells_time,
            bound,
            tuple(source_lines(fiber, self.code) for fiber in actor.fibers),
        )
        self.nodes.append(node)
        self.orders[key] = len(self.nodes) - 1
        if over:
            actor.drop()
        else:
            self.live[len(self.nodes) - 1] = actor
        return len(self.nodes) - 1

    def _told_apart(
        self, parent: int, came_by: ActorAnswer | None, actor: Actor, looks: tuple[Fingerprint, ...]
    ) -> tuple[tuple[object, ...], ...]:
        """Return each fiber's answers, whatever came between; or all answers, in order.

        An actor's fibers get their answers in many orders, and mostly reach the same state. What no
        fingerprint shows of a fiber depends on its own answers. Tasks share variables, and may have
        read one when none shows it.
        """
        answers = [*self.history(parent), came_by] if came_by else []
        if any(look.in_order for look in looks):
            return tuple(answers)
        answers_by_fiber: list[list[object]] = [[] for _ in actor.fibers]
        for answer in answers:
            fiber = actor.fibers[answer.fiber]
            if not (fiber.told_in and answer.reply is None):  # not a reply that it has already
                answers_by_fiber[fiber.told_in or answer.fiber].append(answer[1:])
        return tuple(map(tuple, answers_by_fiber))

    def _loop(
        self,
        parent: int,
        came_by: ActorAnswer,
        requests: tuple[Request, ...],
        looks: tuple[Fingerprint, ...],
    ) -> int:
        """Return the earlier node to which a loop always returns; -1 if it does not."""
        answers = [came_by]
        at = parent
        while at >= 0:
            node = self.nodes[at]
            if node.requests == requests and node.looks == looks:
                return at if self._comes_back(at, answers[::-1]) else -1
            if node.came_by:
                answers.append(node.came_by)
            at = node.parent
        return -1

    def _comes_back(self, at: int, answers: list[ActorAnswer]) -> bool:
        """Is it the same again after each round of these answers?"""
        node = self.nodes[at]
        actor = self._again(at)
        for _ in range(1 + ROUNDS):
            for answer in answers:
                actor.go_on(*answer)
            if actor.requests != node.requests:
                break
        same = actor.requests == node.requests and node.looks == tuple(
            fingerprint_of(fiber) for fiber in actor.fibers
        )
        actor.drop()
        return same
