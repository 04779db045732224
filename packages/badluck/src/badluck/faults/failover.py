from __future__ import annotations

from collections.abc import Iterator

from badluck.faults.fault import Fault, FaultContext
from badluck.search.graph import Graph
from badluck.search.state import ALL_ACTORS, NONE, FaultEffect, SystemState

# ms that it takes, at least. Fencing numbers are taken from the clock: if it took none, a lost
# number could come again.
TAKEOVER_MS = 1


class Failover(Fault):
    """Another server takes over, without the last write: replication was late.

    Commands that were still under way to the old server never arrive.
    """

    name = "failover"
    letter = "f"
    meaning = "another server takes over, which has not heard of the last write"
    drawn = "FAILOVER: the new server has not heard of the last write"
    befalls_one = False
    forgets = True

    def apply(self, graph: Graph, state: SystemState) -> Iterator[FaultEffect]:
        if state.before == NONE:
            return
        which = graph.servers.written_last(state.servers, state.before)
        if which is None:
            return
        servers = graph.servers.fail_over(state.servers, state.before, which)
        gone = [sent for sent in state.in_flight if int(sent.connection[0]) == which]
        servers = graph.servers.drop(servers, tuple(sent.connection for sent in gone))
        servers = graph.servers.pass_time(servers, graph.servers.now(servers) + TAKEOVER_MS)
        in_flight = tuple(sent for sent in state.in_flight if sent not in gone)
        yield FaultEffect(ALL_ACTORS, 0, servers, state.nodes, NONE, in_flight)

    def play(self, playing: FaultContext) -> None:
        playing.backend.fail_over()
        playing.backend.pass_time(playing.now)
