from __future__ import annotations

from collections.abc import Iterator

from badluck.faults.fault import Fault, FaultContext
from badluck.search.graph import Graph
from badluck.search.state import CRASHED, FaultEffect, SystemState


class Crash(Fault):
    """An actor's process is killed: it does nothing any more, and its connections close.

    A user's code may also crash after its last reply, before it has returned its answer.
    """

    name = "crash"
    letter = "x"
    meaning = "an actor stops forever, at any step, and its connections close"
    drawn = "X CRASHES, forever"
    ends_its_actor = True

    def apply(self, graph: Graph, state: SystemState) -> Iterator[FaultEffect]:
        for actor, node in graph.alive(state):
            if graph.moves.user_code or not node.ended:
                servers = graph.servers.drop(state.servers, node.bound)
                nodes = (*state.nodes[:actor], CRASHED, *state.nodes[actor + 1 :])
                yield FaultEffect(actor, 0, servers, nodes, state.before, state.in_flight)

    def play(self, playing: FaultContext) -> None:
        for name in list(playing.actor.open):
            playing.backend.close(name)
        playing.actor.drop()
