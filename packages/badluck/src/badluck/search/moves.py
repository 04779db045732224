"""What one actor may do next: looked up by the servers' state and its place, as many share both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from badluck.actor.request import Hear, Lost, Rest, Send
from badluck.search.automaton import Known
from badluck.search.server_states import ServerStates

Taken = frozenset[int] | None


class Successor(NamedTuple):
    """One fiber's next step: where it leads the servers and the actor."""

    fiber: int
    servers: int  # the number of their state
    node: int
    wrote: bool
    lost: tuple[int, int] | None  # the same, if the reply is lost; None: there is none to lose


class Moves:
    def __init__(
        self, servers: ServerStates, automata: Sequence[Known], lossy: bool, frugal: bool = False
    ) -> None:
        """`lossy`: replies may be lost. `frugal`: tokens that are nowhere any more are drawn again;
        to be said only of actors who do not keep or hear any but their own last one."""
        self.lossy = lossy
        self.frugal = frugal
        self.servers = servers
        self.automata = automata
        self.known: dict[tuple[int, int, int, int], list[Successor]] = {}

    def of(self, servers: int, before: int, actor: int, at: int) -> list[Successor]:
        """The strides of an actor at the node `at`; a failover may bring `before` back."""
        key = (servers, before if self.frugal else -1, actor, at)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = list(self._successors(servers, before, actor, at))
        return found

    def _successors(self, servers: int, before: int, actor: int, at: int) -> Iterator[Successor]:
        node = self.automata[actor].nodes[at]
        if node.ended and len(node.requests) == 1:
            return
        for fiber, request in enumerate(node.requests):
            now = self.servers.now(servers)
            to, wrote, said = servers, False, None
            if isinstance(request, Send):
                to, said, wrote = self.servers.send(servers, request.connection, request.commands)
            elif isinstance(request, Hear):
                heard = self.servers.hear(servers, request.connection)
                if heard is not None:
                    to, said, _ = heard
                elif request.until is None or now < request.until:
                    continue
            elif not isinstance(request, Rest) or now < request.until:
                continue
            taken = self._taken({servers, to, before}, actor)
            told = self._told(to, actor, at, fiber, said, taken)
            lost = None
            if self.lossy and isinstance(request, Send) and not isinstance(said, Lost):
                lost = self._told(to, actor, at, fiber, Lost(), taken)
            yield Successor(fiber, *told, wrote, lost)

    def _told(
        self, servers: int, actor: int, at: int, fiber: int, said: Any, taken: Taken
    ) -> tuple[int, int]:
        move = self.automata[actor].move(at, fiber, said, self.servers.now(servers), taken)
        return (self.servers.drop(servers, move.closed) if move.closed else servers), move.to

    def _taken(self, states: set[int], actor: int) -> Taken:
        """The numbers of the actor's tokens that lie on a server."""
        if not self.frugal:
            return None
        name = self.automata[actor].name
        return frozenset().union(
            *(self.servers.tokens(servers, name) for servers in states if servers >= 0)
        )
