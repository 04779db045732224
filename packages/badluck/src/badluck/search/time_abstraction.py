"""States that are the same except for the time, so that endless loops end in the graph.

A lock that is renewed every three seconds makes a new state each time, as the clock has changed; so
do two actors that back off from each other again and again. If none of them asks the clock, the
future is the same, and the transition leads back to the earlier state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from badluck.actor.request import NEVER, Hear, Request, Rest
from badluck.model.server_state import ServerState as Store
from badluck.model.values import Hash, Stream
from badluck.search.behaviour import Known, Node
from badluck.search.names import Names
from badluck.search.server_states import ServerStates
from badluck.search.state import SystemState


class TimeAbstraction:
    """`known`: states by all except the clock, with their number and renaming."""

    def __init__(self, servers: ServerStates, automata: Sequence[Known], user_code: bool) -> None:
        """`user_code`: the code is a user's; otherwise only a thread can loop forever."""
        self.user_code = user_code
        self.servers = servers
        self.automata = automata
        self.known: dict[object, tuple[int, Names]] = {}

    def key(self, state: SystemState) -> object:
        """Return the state without its time; None if it cannot recur, or if the time is read."""
        nodes = [
            automaton.nodes[at]
            for automaton, at in zip(self.automata, state.nodes, strict=True)
            if at >= 0
        ]
        if any(server.keys.told_time for server in self.servers.servers):
            return None
        if any(automaton.counts_time for automaton in self.automata):  # it may have kept that
            return None
        if state.before >= 0 or state.in_flight:
            return None
        if not self.user_code and not any(map(_outlived, nodes)):
            return None
        if not all(look.complete for node in nodes for look in node.looks):
            return None
        stores, now = self.servers.states[state.servers], self.servers.now(state.servers)
        if not all(map(_timeless, stores)):
            return None
        places = ([_from_now(request, now) for request in node.requests] for node in nodes)
        return (
            tuple(at if at < 0 else 0 for at in state.nodes),
            tuple(
                (tuple(request), node.looks, node.bound)
                for request, node in zip(places, nodes, strict=True)
            ),
            tuple(tuple(_store(store)) for store in stores),
            state.left,
            state.late,
        )


def _outlived(node: Node) -> bool:
    return node.ended and any(isinstance(request, Rest) for request in node.requests[1:])


def _from_now(request: Request, now: int) -> Request:
    if isinstance(request, Rest) and request.until < NEVER:
        return request._replace(until=request.until - now)
    if isinstance(request, Hear) and request.until is not None:
        return request._replace(until=request.until - now)
    return request


def _timeless(store: Store) -> bool:
    """Are all its times those of keys that expire and of clients that wait?"""
    return not any(isinstance(entry.value, Hash | Stream) for _, entry in store.entries)


def _store(store: Store) -> Iterator[object]:
    """Yield its parts, with times counted from now."""
    yield tuple(
        (key, value, expires and expires - store.now) for key, (value, expires) in store.entries
    )
    yield tuple((*wait[:2], wait.until and wait.until - store.now) for wait in store.blocked)
    yield store._replace(now=0, entries=(), blocked=())
