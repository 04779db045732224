"""Possible next steps of one actor, cached by the servers' state and its node.

The cache serves many graphs: whatever faults may still come, the same step has the same effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from badluck.actor.request import Hear, Lost, Request, Rest, Send
from badluck.model.values import Command
from badluck.search.automaton import LATEST, first_change
from badluck.search.behaviour import ActorAnswer, Known, Move, Node
from badluck.search.server_states import ServerStates, ServerStep, tokens
from badluck.search.state import SystemState

TokenNumbers = frozenset[int] | None
SOON = 200  # ms, for code whose polls take no time
MAX_ROUND_COMMANDS = 50  # commands between two sleeps


def sent(request: Request) -> object:
    return request.commands if isinstance(request, Send) else None


def _until(node: Node, fiber: int) -> int:
    request = node.requests[fiber]
    return (request.until or 0) if isinstance(request, Hear | Rest) else 0


def wakes(request: Request | None, now: int = 0) -> bool:
    """Does it continue by itself after `now`, whatever others do, when its time is over?"""
    if isinstance(request, Hear):
        return request.until is not None and now < request.until
    return isinstance(request, Rest) and request.sleeps and now < request.until


class Successor(NamedTuple):
    """One fiber's next step: where it leads the servers and the actor."""

    fiber: int
    servers: int  # the number of their state
    node: int
    wrote: bool


class ServerAnswer(NamedTuple):
    """The reply to a fiber, and the servers after it."""

    servers: int
    reply: Any
    wrote: bool


class PollRound(NamedTuple):
    """The commands and answers from one sleep to the next."""

    commands: list[tuple[Command, ...]]
    began: int
    until: int  # the end of the sleep, ms since 1970
    looked: bool  # at the clock


class UnansweredSend(NamedTuple):
    """A command whose client sees its connection break."""

    actor: int
    fiber: int
    sent: Send
    step: ServerStep  # the server's step
    move: Move  # where the client continues


class Moves:
    def __init__(
        self,
        servers: ServerStates,
        automata: Sequence[Known],
        reuse_tokens: bool = False,
        user_code: bool = False,
    ) -> None:
        """`reuse_tokens`: draw a token again that no server has any more.

        Only for actors that keep and hear no token except their own last one. `user_code`: nothing
        is known of the code.
        """
        self.user_code = user_code
        self.reuse_tokens = reuse_tokens
        self.servers = servers
        self.automata = automata
        self.known: dict[object, list[Successor]] = {}
        self.idle: dict[object, bool] = {}
        self.gives_up: dict[object, bool] = {}

    def of(self, state: SystemState, actor: int) -> list[Successor]:
        """Return the steps that an actor may take; it has not crashed."""
        at = state.nodes[actor]
        key: object = (state.servers, actor, at)
        if self.reuse_tokens:  # tokens may come back by a failover or a late command
            key = (key, state.before, state.in_flight)
        successors = self.known.get(key)
        if successors is None:
            successors = self.known[key] = list(self._successors(state, actor, at))
        return successors

    def unanswered(self, state: SystemState, late: bool = False) -> Iterator[UnansweredSend]:
        """Yield each command that is about to be sent; `late`: it is executed some time later."""
        for actor, at in enumerate(state.nodes):
            if at < 0:
                continue
            for fiber, request in enumerate(self.automata[actor].nodes[at].requests):
                if isinstance(request, Send):
                    step = self.servers.send(state.servers, *request)
                    if not isinstance(step.replies, Lost):  # it broke before
                        in_flight = (*state.in_flight, request) if late else state.in_flight
                        taken = self._taken(state, step.to, in_flight, actor)
                        now = self.servers.now(state.servers)
                        move = self.automata[actor].move(at, fiber, Lost(), now, taken)
                        yield UnansweredSend(actor, fiber, request, step, move)

    def _successors(self, state: SystemState, actor: int, at: int) -> Iterator[Successor]:
        servers = state.servers
        node = self.automata[actor].nodes[at]
        if node.ended and len(node.requests) == 1:
            return
        for fiber, request in enumerate(node.requests):
            answer = self._answer(servers, request)
            if answer is None:
                continue
            to, reply, wrote = answer
            taken = self._taken(state, to, state.in_flight, actor)
            now = self.servers.now(to)
            move = self.automata[actor].move(at, fiber, reply, now, taken)
            to = self.servers.drop(to, move.closed) if move.closed else to
            yield Successor(fiber, to, move.to, wrote)

    def turns(self, state: SystemState, actor: int) -> Iterator[int]:
        """Yield when a poll that changes nothing gets another result by the clock, in ms since
        1970.
        """
        at, now = state.nodes[actor], self.servers.now(state.servers)
        automaton = self.automata[actor]
        for fiber, request in enumerate(automaton.nodes[at].requests):
            turn = None
            if answer := self._answer(state.servers, request):
                taken = self._taken(state, answer.servers, state.in_flight, actor)
                turn = automaton.turn(at, fiber, answer.reply, now, taken)
                if self.user_code and self._asks_by_clock(actor, at, fiber, answer, now, taken):
                    turn = min(turn or now + SOON, now + SOON)
            elif wakes(request, now) and self.idles(state, actor, fiber):
                turn = self._turn(state, actor, fiber)
            if turn is not None:
                yield turn

    def _turn(self, state: SystemState, actor: int, fiber: int) -> int | None:
        """Return when the poll after a sleep changes, in ms since 1970; None: never."""
        at, due = state.nodes[actor], self.servers.deadlines(state.servers)
        now = self.servers.now(state.servers)
        known = self._round(state, actor, at, fiber, _until(self.automata[actor].nodes[at], fiber))
        if known is None or not known.looked:
            return None

        def in_vain(when: int) -> bool:
            return self._round(state, actor, at, fiber, max(when, known.began)) is not None

        last = min((moment - 1 for moment in due if moment > now), default=now + LATEST)
        return first_change(now, min(last, now + LATEST), in_vain)

    def _asks_by_clock(
        self, actor: int, at: int, fiber: int, answer: ServerAnswer, now: int, taken: TokenNumbers
    ) -> bool:
        """Would it send other commands if it polls again soon?"""
        automaton = self.automata[actor]
        requests_now, requests_later = (
            automaton.nodes[automaton.move(at, fiber, answer.reply, when, taken).to].requests
            for when in (now, now + SOON)
        )
        return [*map(sent, requests_now)] != [*map(sent, requests_later)]

    def _answer(self, servers: int, request: Request) -> ServerAnswer | None:
        """Return the reply to a request at this moment; None: it still waits."""
        now = self.servers.now(servers)
        if isinstance(request, Send):
            return ServerAnswer(*self.servers.send(servers, *request)[:3])
        if isinstance(request, Hear):
            heard = self.servers.hear(servers, request.connection)
            if heard is not None:
                return ServerAnswer(*heard[:3])
            late = request.until is not None and request.until <= now
        else:
            late = isinstance(request, Rest) and request.until <= now
        return ServerAnswer(servers, None, False) if late else None

    def waits(self, state: SystemState, actor: int, fiber: int) -> bool:
        """Does it sleep until a moment, or poll until a moment at which it gives up?"""
        request = self.automata[actor].nodes[state.nodes[actor]].requests[fiber]
        if not isinstance(request, Send) and not self.idles(state, actor, fiber):
            return True
        key = (state.servers, actor, state.nodes[actor], fiber)
        if key not in self.gives_up:
            self.gives_up[key] = self._gives_up(state, actor, fiber)
        return self.gives_up[key]

    def _gives_up(self, state: SystemState, actor: int, fiber: int) -> bool:
        automaton, now = self.automata[actor], self.servers.now(state.servers)
        if not isinstance(automaton.nodes[state.nodes[actor]].requests[fiber], Send):
            return self._turn(state, actor, fiber) is not None
        taken = self._taken(state, state.servers, state.in_flight, actor)
        circle = self._circle(state, actor, fiber, taken)
        return any(automaton.turn(at, fiber, reply, now, taken) is not None for at, reply in circle)

    def _circle(
        self, state: SystemState, actor: int, fiber: int, taken: TokenNumbers
    ) -> list[tuple[int, Any]]:
        """Return the nodes and replies of a loop that changes nothing; [] if it is in none."""
        automaton, now = self.automata[actor], self.servers.now(state.servers)
        at, asked_at = state.nodes[actor], list[tuple[int, Any]]()
        while len(asked_at) < MAX_ROUND_COMMANDS:
            requests = automaton.nodes[at].requests
            request = requests[fiber] if fiber < len(requests) else None
            if not isinstance(request, Send):
                break
            step = self.servers.send(state.servers, *request)
            if step.to != state.servers:
                break
            asked_at.append((at, step.replies))
            at = automaton.move(at, fiber, step.replies, now, taken).to
            if at == state.nodes[actor]:
                return asked_at
        return []

    def idles(self, state: SystemState, actor: int, fiber: int) -> bool:
        """Does it wake only to repeat a poll that changes nothing? False if it counts or writes."""
        key = (state.servers, actor, state.nodes[actor], fiber)
        if key not in self.idle:
            self.idle[key] = self._idles(state, actor, fiber)
        return self.idle[key]

    def _idles(self, state: SystemState, actor: int, fiber: int) -> bool:
        at = state.nodes[actor]
        until = _until(self.automata[actor].nodes[at], fiber)
        now, due = self.servers.now(state.servers), self.servers.deadlines(state.servers)
        if not until or any(now < moment <= until for moment in due):
            return False
        once = self._round(state, actor, at, fiber, until)
        if once is None:
            return False
        if not once.commands:
            return not once.looked  # at the clock: that alone may end it
        return self._round(state, actor, at, fiber, once.until) is not None

    def _round(
        self, state: SystemState, actor: int, at: int, fiber: int, when: int
    ) -> PollRound | None:
        """Return the poll after a wake-up at `when`; None: it does not return to the same sleep."""
        automaton = self.automata[actor]
        servers = start = self.servers.pass_time(state.servers, when)
        if any(when >= moment for moment in self.servers.deadlines(state.servers)):
            return None
        here, reply, looked = at, None, False
        commands: list[tuple[Command, ...]] = []
        answers: list[ActorAnswer] = []
        for _ in range(MAX_ROUND_COMMANDS):
            taken = self._taken(state, servers, state.in_flight, actor)
            answers.append(ActorAnswer(fiber, reply, when, taken))
            move = automaton.move(here, *answers[-1])
            here, looked = move.to, looked or move.asks_time
            node = automaton.nodes[here]
            request = node.requests[fiber] if fiber < len(node.requests) else None
            if wakes(request):
                same = servers == start and automaton.same_again(at, here, answers)
                return PollRound(commands, when, _until(node, fiber), looked) if same else None
            if not isinstance(request, Send):
                return None
            commands.append(request.commands)
            servers, reply, *_ = self.servers.send(servers, *request)
        return None

    def _taken(
        self, state: SystemState, to: int, in_flight: tuple[Send, ...], actor: int
    ) -> TokenNumbers:
        """Return the numbers of the actor's tokens that are on a server, or on their way to one."""
        if not self.reuse_tokens:
            return None
        name = self.automata[actor].name
        known = {state.servers, to, state.before}
        lying = (self.servers.tokens(servers, name) for servers in known if servers >= 0)
        words = b" ".join(
            word for sent in in_flight for command in sent.commands for word in command
        )
        return tokens(words, name).union(*lying)
