"""What one actor may do next: looked up by the servers' state and its place, as many share both.

Also many graphs: whatever faults may still come, the same step leads to the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from badluck.actor.request import Hear, Lost, Request, Rest, Send
from badluck.search.automaton import Known, Move
from badluck.search.server_states import ServerStates, Step, tokens

if TYPE_CHECKING:
    from badluck.search.graph import Sleepers, State

Taken = frozenset[int] | None


class Successor(NamedTuple):
    """One fiber's next step: where it leads the servers and the actor."""

    fiber: int
    servers: int  # the number of their state
    node: int
    wrote: bool


class Answered(NamedTuple):
    """What a fiber is told, and what that made of the servers."""

    servers: int
    said: Any
    wrote: bool


class Unanswered(NamedTuple):
    """A command whose client is told that its connection broke."""

    actor: int
    fiber: int
    sent: Send
    step: Step  # what the server makes of it
    move: Move  # where the client goes on


class Moves:
    def __init__(
        self, servers: ServerStates, automata: Sequence[Known], frugal: bool = False
    ) -> None:
        """`frugal`: tokens that are nowhere any more are drawn again; to be said only of actors who
        do not keep or hear any but their own last one."""
        self.frugal = frugal
        self.servers = servers
        self.automata = automata
        self.known: dict[object, list[Successor]] = {}

    def of(self, state: State, actor: int) -> list[Successor]:
        """The steps that an actor may take; it has not crashed."""
        at = state.nodes[actor]
        key: object = (state.servers, actor, at)
        if self.frugal:  # what a failover brings back, or arrives late, has tokens as well
            key = (key, state.before, state.in_flight)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = list(self._successors(state, actor, at))
        return found

    def unanswered(self, state: State, late: bool = False) -> Iterator[Unanswered]:
        """Each command that is about to be sent; `late`: it is done some time later."""
        for actor, at in enumerate(state.nodes):
            if at < 0:
                continue
            for fiber, request in enumerate(self.automata[actor].nodes[at].requests):
                if isinstance(request, Send):
                    step = self.servers.send(state.servers, *request)
                    if not isinstance(step.said, Lost):  # it broke before
                        in_flight = (*state.in_flight, request) if late else state.in_flight
                        taken = self._taken(state, step.to, in_flight, actor)
                        now = self.servers.now(state.servers)
                        move = self.automata[actor].move(at, fiber, Lost(), now, taken)
                        yield Unanswered(actor, fiber, request, step, move)

    def _successors(self, state: State, actor: int, at: int) -> Iterator[Successor]:
        servers = state.servers
        node = self.automata[actor].nodes[at]
        if node.ended and len(node.requests) == 1:
            return
        for fiber, request in enumerate(node.requests):
            answer = self._answer(servers, request)
            if answer is None:
                continue
            to, said, wrote = answer
            taken = self._taken(state, to, state.in_flight, actor)
            now = self.servers.now(to)
            early = isinstance(request, Rest) and now < request.until
            if early and not self.automata[actor].polls(at, fiber, now, taken):
                continue
            move = self.automata[actor].move(at, fiber, said, now, taken)
            to = self.servers.drop(to, move.closed) if move.closed else to
            yield Successor(fiber, to, move.to, wrote)

    def turns(self, state: State, actor: int, sleepers: Sleepers) -> Iterator[int]:
        """When what it does in vain leads it elsewhere, ms since 1970: it gives up by the clock."""
        at = state.nodes[actor]
        for fiber, request in enumerate(self.automata[actor].nodes[at].requests):
            answer = self._answer(state.servers, request)
            if answer is not None and (actor, fiber) not in sleepers:
                taken = self._taken(state, answer.servers, state.in_flight, actor)
                now = self.servers.now(state.servers)
                turn = self.automata[actor].turn(at, fiber, answer.said, now, taken)
                if turn is not None:
                    yield turn

    def _answer(self, servers: int, request: Request) -> Answered | None:
        """What there is to say to that at this moment; None: nothing."""
        now = self.servers.now(servers)
        if isinstance(request, Send):
            return Answered(*self.servers.send(servers, *request))
        if isinstance(request, Hear):
            heard = self.servers.hear(servers, request.connection)
            if heard is not None:
                return Answered(*heard)
            late = request.until is not None and request.until <= now
        else:
            late = isinstance(request, Rest) and (
                request.until <= now or self._may_wake(servers, request)
            )
        return Answered(servers, None, False) if late else None

    def _may_wake(self, servers: int, rest: Rest) -> bool:
        """Does nothing happen while it sleeps? Then it need not, if it but polls."""
        now, due = self.servers.now(servers), self.servers.deadlines(servers)
        return rest.sleeps and not any(now < moment <= rest.until for moment in due)

    def _taken(self, state: State, to: int, in_flight: tuple[Send, ...], actor: int) -> Taken:
        """The numbers of the actor's tokens that lie on a server, or are on their way to one."""
        if not self.frugal:
            return None
        name = self.automata[actor].name
        known = {state.servers, to, state.before}
        lying = (self.servers.tokens(servers, name) for servers in known if servers >= 0)
        words = b" ".join(word for sent in in_flight for one in sent.commands for word in one)
        return tokens(words, name).union(*lying)
