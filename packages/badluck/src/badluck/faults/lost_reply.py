from __future__ import annotations

from collections.abc import Iterator

from badluck.faults.fault import Fault, FaultContext, StepText
from badluck.search.graph import Graph
from badluck.search.state import FaultEffect, SystemState


class LostReply(Fault):
    """A command is done, and its reply never comes: its client cannot know whether it was done."""

    name = "lost"
    letter = "l"
    meaning = "a command is done, and its reply never comes: the connection broke"
    drawn = "WHICH IS LOST"
    tells = "command and reply"

    def apply(self, graph: Graph, state: SystemState) -> Iterator[FaultEffect]:
        for send in graph.moves.unanswered(state):
            servers = graph.servers.drop(send.step.to, send.move.closed)
            before = state.servers if send.step.wrote and state.left.forgets else state.before
            nodes = (*state.nodes[: send.actor], send.move.to, *state.nodes[send.actor + 1 :])
            yield FaultEffect(send.actor, send.fiber, servers, nodes, before, state.in_flight)

    def play(self, playing: FaultContext) -> StepText:
        return playing.go_on(answered=False)
