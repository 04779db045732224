"""Every state that actors and servers can get into, and the transitions between them.

Time passes in two ways. By itself, when all actors only wait: then until the next event (a lease
ends, a renewal is due, a sleep ends, an actor gives up). And by a pause, which is a fault: all
actors stop wherever they are, until a lease or a wait is over.

A user's code may begin late: while another actor waits for a moment, it need not have begun. An
actor at work may be as slow as another's sleep is long, but not past the end of a lease: that is a
pause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from badluck.actor.request import NEVER, Hear, Rest, Send
from badluck.search.components import terminal_components
from badluck.search.moves import Moves
from badluck.search.names import LETTERS
from badluck.search.state import (
    ALL_ACTORS,
    BEGINNING,
    BY_ITSELF,
    CRASHED,
    NONE,
    Budget,
    SystemState,
    Transition,
)
from badluck.search.state_table import MAX_STATES, StateTable
from badluck.search.symmetry import Symmetry
from badluck.search.time_abstraction import TimeAbstraction

# ms: a pause does not wait for later expiries in the shop (queue's keys live for a day).
SOON = 3_600_000
# ms after the beginning: by then the most patient actor has given up, if it ever does.
LONG_AFTER = 10 * 86_400_000

# So often time passes for threads when all work is done, before they are ignored: some run forever.
LONG_ENOUGH = 10

Sleepers = frozenset[tuple[int, int]]  # actors and their fibers


class Graph(StateTable):
    def __init__(
        self,
        moves: Moves,
        faults: Budget,
        pauses: Sequence[int],
        most: int = MAX_STATES,
        symmetry: Symmetry | None = None,
    ) -> None:
        """`pauses` in ms: see Target; more than `most` states are TooMany."""
        super().__init__(moves.servers, moves.automata, most, symmetry)
        self.moves = moves
        self.pauses = pauses
        self.all_seen = False
        # When all work is done: how often time has passed for threads on the path to a state.
        self.rounds: dict[int, int] = {}
        self.again = TimeAbstraction(self.servers, self.automata, moves.user_code)
        start = self.servers.start
        self.began = self.servers.now(start)
        self._number(start, tuple(0 for _ in self.automata), faults, NONE, ())

    def explore(self) -> None:
        """Explore one point in time after the other: no transition leads back. Raises TooMany."""
        while self.later:
            now = min(self.later)
            numbers = self._moment(now, self.later.pop(now))
            for number, sleepers in self.waiting(numbers).items():
                self._let_time_pass(number, sleepers)
        self.all_seen = True

    def _moment(self, now: int, todo: list[int]) -> list[int]:
        """Explore all that can happen while the clock says `now`; return the states."""
        numbers = []
        while todo:
            number = todo.pop()
            numbers.append(number)
            self._expand(number)
            todo += self.later.pop(now, [])
        return numbers

    def waiting(self, states: Sequence[int]) -> dict[int, Sleepers]:
        """Return the states in which every actor waits, each with its sleeping actors."""
        asleep = {number: self._asleep(number) for number in states}
        ends = terminal_components(states, self._goes)
        return {number: asleep[number] for number in states if number in ends}

    def _goes(self, number: int) -> Iterable[int]:
        """Return where a step leads; while an actor waits for a moment, only of actors that have
        begun.
        """
        state = self.states[number]
        waited = self.moves.user_code and self._waits(state)
        return [
            edge.to
            for edge in self.edges[number]
            if edge.kind == "goes" and not (waited and state.nodes[edge.actor] == BEGINNING)
        ]

    def _waits(self, state: SystemState) -> bool:
        """Is any actor at work waiting for a point in time?"""
        now = self.servers.now(state.servers)
        for actor, node in self.alive(state):
            if state.nodes[actor] == BEGINNING or node.ended:
                continue
            for fiber, request in enumerate(node.requests):
                if isinstance(request, Rest) and now < request.until < NEVER:
                    if not request.sleeps or self.moves.waits(state, actor, fiber):
                        return True
                elif isinstance(request, Send):
                    if self.moves.waits(state, actor, fiber):
                        return True
                elif isinstance(request, Hear):
                    until = request.until or self.servers.blocked(state.servers, request.connection)
                    if until and now < until and not self.moves.idles(state, actor, fiber):
                        return True
        return False

    def sleeping(self, state: SystemState) -> Iterator[tuple[int, int, Rest]]:
        """Yield actors, their fibers, and their sleeps."""
        now = self.servers.now(state.servers)
        for actor, node in self.alive(state):
            for fiber, request in enumerate(node.requests):
                if isinstance(request, Rest) and request.sleeps and now < request.until:
                    yield actor, fiber, request

    def _asleep(self, number: int) -> Sleepers:
        """Return the sleepers, except those that would only repeat the same poll when they wake."""
        state = self.states[number]
        return frozenset(
            (actor, fiber)
            for actor, fiber, _ in self.sleeping(state)
            if not self.moves.idles(state, actor, fiber)
        )

    def _expand(self, number: int) -> None:
        servers, nodes, left, before, in_flight, late = state = self.states[number]
        edges = self.edges[number]
        numbers = self.numbers[state[2:]]
        forgets = left.forgets
        for actor, at in enumerate(nodes):
            if at == CRASHED:
                continue
            first, rest = nodes[:actor], nodes[actor + 1 :]
            for fiber, servers_then, node, wrote in self.moves.of(state, actor):
                then = servers if wrote and forgets else before
                # A step that changes nothing adds no transition.
                if node != at or servers_then != servers or then != before:
                    placed = (*first, node, *rest)
                    same = then == before and actor not in late
                    known = numbers.get((servers_then, placed)) if same else None
                    to, names = known or self._number(
                        servers_then, placed, left, then, in_flight, late - {actor}
                    )
                    edges.append(Transition("goes", actor, fiber, to, names))
        for nth in range(len(in_flight)):
            edges.append(self._arrives(state, nth))
        for fault, less in left.possible():
            for hit in fault.apply(self, state):
                less_late = late - {hit.actor}
                to, names = self._number(
                    hit.servers, hit.nodes, less, hit.before, hit.in_flight, less_late
                )
                edges.append(Transition(fault.name, hit.actor, hit.fiber, to, names))
        self._sleep_through(number)
        if number in self.rounds:
            for edge in edges:
                self.rounds.setdefault(edge.to, self.rounds[number])

    def _arrives(self, state: SystemState, nth: int) -> Transition:
        """Deliver a command in flight to its server; its client is gone."""
        sent = state.in_flight[nth]
        step = self.servers.send(state.servers, *sent)
        servers = self.servers.drop(step.to, (sent.connection,))
        before = state.servers if step.wrote and state.left.forgets else state.before
        others = (*state.in_flight[:nth], *state.in_flight[nth + 1 :])
        to, names = self._number(servers, state.nodes, state.left, before, others, state.late)
        name = sent.connection[1]
        fiber = state.sent_by(name).index(sent)
        return Transition("arrives", LETTERS.index(name), fiber, to, names)

    def _let_time_pass(self, number: int, sleepers: Sleepers) -> None:
        """Let time pass to the next event, since all actors only wait."""
        state = self.states[number]
        rounds = self.rounds.get(number, 0)
        if self.over(state) and not (self._waits_for_threads(number) and rounds < LONG_ENOUGH):
            return
        now = self.servers.now(state.servers)
        # A command in flight arrives before the most patient actor gives up.
        patient = now if state.in_flight else self.began + LONG_AFTER
        turns = (
            self.moves.turns(state, actor)
            for actor, _ in self.alive(state)
            if not (self.moves.user_code and state.nodes[actor] == BEGINNING)
        )
        due = self.deadlines(state, renewals=True, sleepers=sleepers).union(*turns)
        moment = min(due, default=patient)
        passed = [self.took(number, edge) for edge in self.edges[number] if edge.kind == "time"]
        if now < moment and moment - now not in passed:
            self._pass_time(number, moment, state.late)
        if self.over(state):
            for edge in self.edges[number]:
                if edge.kind == "time":
                    self.rounds.setdefault(edge.to, rounds + 1)

    def _sleep_through(self, number: int) -> None:
        """Let others be as slow as the first sleeper that wakes, as long as no lease ends by that.

        Each is so only once before its next step: otherwise a second could last for an hour.
        """
        state = self.states[number]
        if not any(self.sleeping(state)):
            return
        asleep, now = self._asleep(number), self.servers.now(state.servers)
        ends = [rest.until for *who, rest in self.sleeping(state) if tuple(who) in asleep]
        due = self.servers.deadlines(state.servers)
        goes = {edge.actor for edge in self.edges[number] if edge.kind == "goes"}
        at_work = {actor for actor in goes if state.nodes[actor] != BEGINNING}
        free = not any(now < moment <= min(ends) for moment in due) if ends else False
        if free and at_work.isdisjoint(state.late):
            self._pass_time(number, min(ends), state.late | at_work)

    def _pass_time(self, number: int, moment: int, late: frozenset[int]) -> None:
        state = self.states[number]
        servers, before = self.later_servers(state, moment)
        later = state._replace(servers=servers, before=before, late=late)
        key = self.again.key(later)
        to, names = self.again.known.get(key) or self._number(*later)
        self.again.known |= {key: (to, names)} if key else {}
        behind = moment - self._now(to)
        self.edges[number].append(Transition("time", ALL_ACTORS, 0, to, names, behind))

    def later_servers(self, state: SystemState, moment: int) -> tuple[int, int]:
        """Return the servers of the state, and those before the last write, at `moment`."""
        before = state.before
        if before != NONE:
            before = self.servers.pass_time(before, moment)
        return self.servers.pass_time(state.servers, moment), before

    def deadlines(
        self, state: SystemState, renewals: bool, sleepers: Sleepers = frozenset()
    ) -> set[int]:
        """Return times of events that need no actor, ms since 1970; `renewals` are a mode's own."""
        now = self.servers.now(state.servers)
        moments = set(self.servers.deadlines(state.servers))
        ends = [rest.until for *who, rest in self.sleeping(state) if tuple(who) in sleepers]
        for actor, node in self.alive(state):
            for fiber, request in enumerate(node.requests):
                if isinstance(request, Hear):
                    if not self.moves.idles(state, actor, fiber):
                        moments.add(
                            request.until or 0
                        )  # a wait without a timeout never ends by itself
                elif (
                    isinstance(request, Rest)
                    and not request.sleeps
                    and (renewals or self.moves.user_code)
                ):
                    moments.add(request.until)
        latest = NEVER - 1 if self.moves.user_code else max(min(ends, default=0), now + SOON)
        return {moment for moment in (*moments, *ends) if now < moment <= latest}

    def settled(self, number: int) -> bool:
        """Is it over, and have the threads ended for which a process waits, if they ever do?"""
        if not self.over(self.states[number]):
            return False
        todo, visited = [number], {number}
        for at in todo:
            if self.over(self.states[at]) and not self._waits_for_threads(at):
                return at == number
            edges = self.onward(at)
            if not edges and not self.all_seen:
                return False  # not explored
            later = {edge.to for edge in edges if edge.kind in BY_ITSELF} - visited
            todo += sorted(later)
            visited |= later
        return True

    def _waits_for_threads(self, number: int) -> bool:
        return any(node.waits_for_threads for _, node in self.alive(self.states[number]))

    def onward(self, number: int) -> list[Transition]:
        """Return the transitions from a state."""
        return self.edges[number]
