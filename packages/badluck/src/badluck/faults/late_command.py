from __future__ import annotations

from collections.abc import Iterator

from badluck.faults.fault import Fault, FaultContext, StepText
from badluck.search.graph import Graph
from badluck.search.state import FaultEffect, SystemState


class Late(Fault):
    """A client gives up on a command that is still under way: it reaches the server later.

    It arrives at any moment, by itself (the graph's transition `arrives`). So a write that was sent
    under a lock may be done when another actor holds the lock. Kleppmann describes it in "How to do
    distributed locking" (2016); a timeout that is shorter than the network's longest delay is
    enough. Of a pipeline only the last command can be late: the others wait behind one that is
    under way.
    """

    name = "late"
    letter = "g"
    meaning = "a command reaches the server after its client has given up"
    drawn = "GIVES UP; it is still under way"
    tells = "command"

    def apply(self, graph: Graph, state: SystemState) -> Iterator[FaultEffect]:
        for send in graph.moves.unanswered(state, late=True):
            if send.sent.connection in send.move.closed:
                # For the server the connection is open until the command has come.
                others = tuple(name for name in send.move.closed if name != send.sent.connection)
                servers = graph.servers.drop(state.servers, others)
                nodes = (*state.nodes[: send.actor], send.move.to, *state.nodes[send.actor + 1 :])
                in_flight = tuple(sorted((*state.in_flight, send.sent)))
                yield FaultEffect(send.actor, send.fiber, servers, nodes, state.before, in_flight)

    def play(self, playing: FaultContext) -> StepText:
        return playing.give_up()
