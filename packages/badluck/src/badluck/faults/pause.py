from __future__ import annotations

from collections.abc import Iterator

from badluck.actor.request import Send
from badluck.faults.fault import Fault, FaultContext
from badluck.search.graph import Graph
from badluck.search.state import ALL_ACTORS, FaultEffect, SystemState


class Pause(Fault):
    """All actors stop wherever they are, until a lease or a wait is over.

    Causes are a long garbage collection, a virtual machine that is moved, a laptop that is closed.
    """

    name = "pause"
    letter = "p"
    meaning = "all actors pause, at any step, until a lease or a wait is over"
    drawn = "ALL PAUSE for {}"
    befalls_one = False
    tells = "duration"

    def apply(self, graph: Graph, state: SystemState) -> Iterator[FaultEffect]:
        if graph.over(state):
            return
        for moment in self._ends(graph, state):
            servers, before = graph.later_servers(state, moment)
            yield FaultEffect(ALL_ACTORS, 0, servers, state.nodes, before, state.in_flight)

    def _ends(self, graph: Graph, state: SystemState) -> set[int]:
        """Return the ends of the pause, in ms since 1970."""
        ends = graph.deadlines(state, renewals=False)
        if graph.moves.user_code:  # until it is too late for their next step
            for actor, _ in graph.alive(state):
                ends.update(graph.moves.turns(state, actor))
        # Some leases are only times that are compared with a clock.
        if any(node.tells_time for _, node in graph.alive(state)) or self._by_clock(graph, state):
            now = graph.servers.now(state.servers)
            long = {now + pause for pause in graph.pauses}
            return ends | long if graph.moves.user_code else ends or long
        return ends

    def _by_clock(self, graph: Graph, state: SystemState) -> bool:
        """Does an actor's next command depend on the server's clock?"""
        return graph.moves.user_code and any(
            graph.servers.send(state.servers, *request).by_clock
            for _, node in graph.alive(state)
            for request in node.requests
            if isinstance(request, Send)
        )

    def play(self, playing: FaultContext) -> None:
        playing.backend.pass_time(playing.now)
