"""Every state that actors and servers can get into, and the ways between them.

A state: the servers', where each actor's code stands, and the faults that are still allowed. Equal
states go on alike, however they came about; so each is looked at once, and a handful of states
stands for millions of schedules. With a Symmetry, states are equal also when they differ by the
actors' names only.

Time passes in two ways. By itself, when nobody has anything to do but wait: then until the next
thing happens (a lease ends, a renewal is due). And by a pause, a fault: everybody stands still,
wherever it is, until a lease or a wait is over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from badluck.actor.request import Hear, Rest
from badluck.faults import Faults
from badluck.search.automaton import Known, Node
from badluck.search.components import terminal_components
from badluck.search.moves import Moves
from badluck.search.names import Names
from badluck.search.server_states import ServerStates
from badluck.search.symmetry import Symmetry

CRASHED = -1  # in place of an actor's node
NONE = -1  # in place of the servers' state
SOON = 3_600_000  # ms: what is later is not waited for by a pause (queue's keys live for a day)
# ms that a failover takes, at the least. In none at all a fencing number that was lost could come
# again: they are taken from the clock.
TAKEOVER = 1
# ms after the beginning: so long after it that the most patient has given up, if it ever does.
LATE = 10 * 86_400_000

# States, so that all stays under 1 GiB. Measured in MiB for each 100,000 of them: 250 for queue and
# watchdog, 400 for the hungriest, redlock with four actors and redis-py's retries.
MOST = 200_000


class State(NamedTuple):
    servers: int  # the number of their state
    nodes: tuple[int, ...]  # one an actor
    left: Faults  # that may still be injected
    before: int  # the servers before the last write, while a failover may lose it; else NONE


class Transition(NamedTuple):
    """One step from one state to another."""

    kind: str  # goes, lost, crash, pause, time, failover; again: its work begins anew (starvation)
    actor: int  # -1: nobody's, or everybody's
    fiber: int
    to: int  # number of the state
    names: Names = ()  # that actors have there, by the names that they have here; (): the same


class TooMany(Exception):
    """More states than were allowed."""


class Graph:
    """The states have numbers, in the order in which they were found; 0 is the beginning."""

    def __init__(
        self,
        servers: ServerStates,
        automata: Sequence[Known],
        faults: Faults,
        pause: int,
        most: int = MOST,
        symmetry: Symmetry | None = None,
        frugal: bool = False,
    ) -> None:
        """`pause` in ms is longer than any lease; more than `most` states are TooMany.

        `frugal`: see Moves.
        """
        self.servers = servers
        self.pause = pause
        self.automata = automata
        self.most = most
        self.symmetry = symmetry
        self.moves = Moves(servers, automata, faults.lost > 0, frugal)
        self.states: list[State] = []
        # Of each state met, whoever stands for it, and by which names.
        self.numbers: dict[
            tuple[Faults, int], dict[tuple[int, tuple[int, ...]], tuple[int, Names]]
        ] = defaultdict(dict)  # by what is left and was before, then by servers and nodes
        self.ways: list[list[Transition]] = []
        self._over: dict[tuple[int, ...], bool] = {}
        self.later: dict[int, list[int]] = defaultdict(list)  # clock -> states to look at then
        self.began = servers.now(servers.start)
        self._number(servers.start, tuple(0 for _ in automata), faults, NONE)

    def explore(self) -> None:
        """One moment after the other: nothing leads back in time. Raises TooMany."""
        while self.later:
            now = min(self.later)
            found = self._moment(now, self.later.pop(now))
            for number in terminal_components(found, self._goes):
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

    def _number(
        self, servers: int, nodes: tuple[int, ...], left: Faults, before: int
    ) -> tuple[int, Names]:
        """Of the state that stands for this one, and the names by which it does."""
        known = self.numbers[left, before].get((servers, nodes))
        return known or self._new(servers, nodes, left, before)

    def _new(
        self, servers: int, nodes: tuple[int, ...], left: Faults, before: int
    ) -> tuple[int, Names]:
        """The same, of a state that nobody has met so."""
        key, numbers = (servers, nodes), self.numbers[left, before]
        names: Names = ()
        if self.symmetry:
            servers, nodes, before, names = self.symmetry.standing_for(servers, nodes, before)
        found = self.numbers[left, before]
        known = found.get((servers, nodes))
        if known is None:
            if len(self.states) >= self.most:
                raise TooMany
            known = found[servers, nodes] = len(self.states), ()
            self.states.append(State(servers, nodes, left, before))
            self.ways.append([])
            self.later[self.servers.now(servers)].append(known[0])
        if numbers is found and key == (servers, nodes):
            return known
        numbers[key] = known[0], names
        return numbers[key]

    def _expand(self, number: int, now: int) -> None:
        servers, nodes, left, before = state = self.states[number]
        ways = self.ways[number]
        lose = left.less("lost") if left.lost else None
        numbers = self.numbers[left, before]
        crash = left.less("crash") if left.crash else None
        for actor, at in enumerate(nodes):
            if at == CRASHED:
                continue
            first, rest = nodes[:actor], nodes[actor + 1 :]
            for fiber, there, node, wrote, lost in self.moves.of(servers, before, actor, at):
                then = servers if wrote and left.failover else before
                # Who has asked in vain is where it was.
                if node != at or there != servers or then != before:
                    placed = (*first, node, *rest)
                    known = numbers.get((there, placed)) if then == before else None
                    to, names = known or self._number(there, placed, left, then)
                    ways.append(Transition("goes", actor, fiber, to, names))
                if lose and lost:
                    to, names = self._number(lost[0], (*first, lost[1], *rest), lose, then)
                    ways.append(Transition("lost", actor, fiber, to, names))
            place = self.automata[actor].nodes[at]
            if crash and not place.ended:
                dropped = self.servers.drop(servers, place.bound) if place.bound else servers
                to, names = self._number(dropped, (*first, CRASHED, *rest), crash, before)
                ways.append(Transition("crash", actor, 0, to, names))
        if left.failover and before != NONE:
            forgetful = self.servers.fail_over(servers, before)
            if forgetful is not None:
                forgetful = self.servers.pass_time(forgetful, now + TAKEOVER)
                to, names = self._number(forgetful, nodes, left.less("failover"), NONE)
                ways.append(Transition("failover", -1, 0, to, names))
        if left.pause and not self.over(state):
            for moment in self._pauses(state, now):
                self._pass_time(number, state, moment, left.less("pause"), "pause")

    def _let_time_pass(self, number: int) -> None:
        """Nobody can do anything but wait: until the next thing happens."""
        state = self.states[number]
        if self.over(state):
            return
        now = self.servers.now(state.servers)
        moment = min(self._deadlines(state, now, renewals=True), default=self.began + LATE)
        if now < moment:
            self._pass_time(number, state, moment, state.left, "time")

    def _pass_time(self, number: int, state: State, moment: int, left: Faults, kind: str) -> None:
        servers = self.servers.pass_time(state.servers, moment)
        before = state.before
        if before != NONE:
            before = self.servers.pass_time(before, moment)
        to, names = self._number(servers, state.nodes, left, before)
        self.ways[number].append(Transition(kind, -1, 0, to, names))

    def called(self, state: State, names: Names) -> State:
        """The same, when the actors have these names."""
        if self.symmetry is None:
            return state
        servers, nodes, before = self.symmetry.apply(
            state.servers, state.nodes, state.before, names
        )
        return State(servers, nodes, state.left, before)

    def _deadlines(self, state: State, now: int, renewals: bool) -> set[int]:
        found = set(self.servers.deadlines(state.servers))
        for node in self._nodes(state):
            for request in node.requests:
                if isinstance(request, Hear) or (renewals and isinstance(request, Rest)):
                    found.add(request.until or 0)  # a wait without an end never ends by itself
        return {moment for moment in found if now < moment <= now + SOON}

    def _pauses(self, state: State, now: int) -> set[int]:
        """Until when everybody may stand still."""
        found = self._deadlines(state, now, renewals=False)
        # Some leases are but a time that actors compare with their own clocks.
        if not found and any(node.tells_time for node in self._nodes(state)):
            return {now + self.pause}
        return found

    def _nodes(self, state: State) -> Iterator[Node]:
        """Where those stand who have not crashed."""
        for automaton, at in zip(self.automata, state.nodes, strict=True):
            if at != CRASHED:
                yield automaton.nodes[at]

    def over(self, state: State) -> bool:
        """Has every actor come to an end?"""
        known = self._over.get(state.nodes)
        if known is None:
            known = self._over[state.nodes] = all(node.ended for node in self._nodes(state))
        return known
