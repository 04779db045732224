"""Every state that buyers and servers can get into, and the ways between them.

A state: the servers', where each buyer's code stands, and the faults that are still allowed. Equal
states go on alike, however they came about; so each is looked at once, and a handful of states
stands for millions of schedules.

Time passes in two ways. By itself, when nobody has anything to do but wait: then until the next
thing happens (a lease ends, a renewal is due). And by a pause, a fault: everybody stands still,
wherever he is, until a lease or a wait is over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from app.explorer.automaton import Automaton, Node
from app.explorer.cycles import ends_of_the_road
from app.explorer.faults import Faults
from app.explorer.request import Done, Failed, Hear, Lost, Rest, Send
from app.explorer.world import World

CRASHED = -1  # in place of a buyer's node
NONE = -1  # in place of a world
SOON = 3_600_000  # ms: what is later is not waited for by a pause (queue's keys live for a day)
# ms that a failover takes, at the least. In none at all a fencing number that was lost could come
# again: they are taken from the clock.
TAKEOVER = 1
# ms after the beginning: so long after it that the most patient has given up, if he ever does.
LATE = 10 * 86_400_000


class State(NamedTuple):
    world: int
    nodes: tuple[int, ...]  # one a buyer
    left: Faults  # that may still be injected
    before: int  # the world before the last write, while a failover may lose it; else NONE


class Way(NamedTuple):
    """One step from one state to another."""

    kind: str  # goes, lost, crash, pause, time, failover
    buyer: int  # -1: nobody's, or everybody's
    strand: int
    to: int  # number of the state


class TooMany(Exception):
    """More states than were allowed."""


class Graph:
    """The states have numbers, in the order in which they were found; 0 is the beginning."""

    def __init__(
        self,
        world: World,
        automata: Sequence[Automaton],
        faults: Faults,
        pause: int,
        most: int = 2_000_000,
    ) -> None:
        """`pause` in ms is longer than any lease; more than `most` states are TooMany."""
        self.world = world
        self.pause = pause
        self.automata = automata
        self.most = most
        self.states: list[State] = []
        self.numbers: dict[State, int] = {}
        self.ways: list[list[Way]] = []
        self.later: dict[int, list[int]] = defaultdict(list)  # clock -> states to look at then
        start = State(world.start, tuple(0 for _ in automata), faults, NONE)
        self.began = world.now(world.start)
        self._number(start)

    def explore(self) -> None:
        """One moment after the other: nothing leads back in time. Raises TooMany."""
        while self.later:
            now = min(self.later)
            found = self._moment(now, self.later.pop(now))
            for number in ends_of_the_road(found, self._goes):
                self._let_time_pass(number)

    def _moment(self, now: int, todo: list[int]) -> list[int]:
        """All that can happen while the clock says `now`."""
        found = []
        while todo:
            number = todo.pop()
            found.append(number)
            self._expand(number, now)
            todo += self.later.pop(now, [])
        return found

    def _goes(self, number: int) -> Iterable[int]:
        return [way.to for way in self.ways[number] if way.kind == "goes"]

    def _number(self, state: State) -> int:
        number = self.numbers.get(state)
        if number is None:
            number = self.numbers[state] = len(self.states)
            if number >= self.most:
                raise TooMany
            self.states.append(state)
            self.ways.append([])
            self.later[self.world.now(state.world)].append(number)
        return number

    def _expand(self, number: int, now: int) -> None:
        state = self.states[number]
        ways = self.ways[number]
        for buyer, at in enumerate(state.nodes):
            if at == CRASHED:
                continue
            node = self.automata[buyer].nodes[at]
            if node.ended and len(node.requests) == 1:
                continue
            for strand, request in enumerate(node.requests):
                self._step(number, state, buyer, strand, request, now)
            if state.left.crash and not node.ended:
                world = self.world.drop(state.world, node.open) if node.open else state.world
                nodes = _with(state.nodes, buyer, CRASHED)
                to = self._number(State(world, nodes, state.left.less("crash"), state.before))
                ways.append(Way("crash", buyer, 0, to))
        if state.left.failover and state.before != NONE:
            forgetful = self.world.fail_over(state.world, state.before)
            if forgetful is not None:
                forgetful = self.world.pass_time(forgetful, now + TAKEOVER)
                left = state.left.less("failover")
                to = self._number(State(forgetful, state.nodes, left, NONE))
                ways.append(Way("failover", -1, 0, to))
        if state.left.pause and not self.over(state):
            left = state.left.less("pause")
            for moment in self._pauses(state, now):
                self._pass_time(number, state, moment, left, "pause")

    def _step(
        self, number: int, state: State, buyer: int, strand: int, request: object, now: int
    ) -> None:
        if isinstance(request, Done | Failed):
            return
        world, wrote, said = state.world, False, None
        if isinstance(request, Send):
            world, said, wrote = self.world.send(world, request.connection, request.commands)
        elif isinstance(request, Hear):
            heard = self.world.hear(world, request.connection)
            if heard is not None:
                world, said, _ = heard
            elif request.until is None or now < request.until:
                return
        elif isinstance(request, Rest) and now < request.until:
            return
        before = state.before
        if wrote and state.left.failover:
            before = state.world
        self._go(number, state, buyer, strand, world, said, before, now, "goes", state.left)
        if isinstance(request, Send) and state.left.lost and not isinstance(said, Lost):
            left = state.left.less("lost")
            self._go(number, state, buyer, strand, world, Lost(), before, now, "lost", left)

    def _go(
        self,
        number: int,
        state: State,
        buyer: int,
        strand: int,
        world: int,
        said: object,
        before: int,
        now: int,
        kind: str,
        left: Faults,
    ) -> None:
        move = self.automata[buyer].move(state.nodes[buyer], strand, said, now)
        if move.closed:
            world = self.world.drop(world, move.closed)
        nodes = _with(state.nodes, buyer, move.to)
        to = self._number(State(world, nodes, left, before))
        if to != number:  # else it has asked in vain, and all is as it was
            self.ways[number].append(Way(kind, buyer, strand, to))

    def _let_time_pass(self, number: int) -> None:
        """Nobody can do anything but wait: until the next thing happens."""
        state = self.states[number]
        if self.over(state):
            return
        now = self.world.now(state.world)
        moment = min(self._deadlines(state, now, renewals=True), default=self.began + LATE)
        if now < moment:
            self._pass_time(number, state, moment, state.left, "time")

    def _pass_time(self, number: int, state: State, moment: int, left: Faults, kind: str) -> None:
        world = self.world.pass_time(state.world, moment)
        before = state.before
        if before != NONE:
            before = self.world.pass_time(before, moment)
        to = self._number(State(world, state.nodes, left, before))
        self.ways[number].append(Way(kind, -1, 0, to))

    def _deadlines(self, state: State, now: int, renewals: bool) -> set[int]:
        found = set(self.world.deadlines(state.world))
        for node in self._nodes(state):
            for request in node.requests:
                if isinstance(request, Hear) or (renewals and isinstance(request, Rest)):
                    found.add(request.until or 0)  # a wait without an end never ends by itself
        return {moment for moment in found if now < moment <= now + SOON}

    def _pauses(self, state: State, now: int) -> set[int]:
        """Until when everybody may stand still."""
        found = self._deadlines(state, now, renewals=False)
        # Some leases are but a time that buyers compare with their own clocks.
        if not found and any(node.tells_time for node in self._nodes(state)):
            return {now + self.pause}
        return found

    def _nodes(self, state: State) -> Iterator[Node]:
        """Where those stand who have not crashed."""
        for automaton, at in zip(self.automata, state.nodes, strict=True):
            if at != CRASHED:
                yield automaton.nodes[at]

    def over(self, state: State) -> bool:
        """Has every buyer come to an end?"""
        return all(node.ended for node in self._nodes(state))


def _with(nodes: tuple[int, ...], buyer: int, node: int) -> tuple[int, ...]:
    return (*nodes[:buyer], node, *nodes[buyer + 1 :])
