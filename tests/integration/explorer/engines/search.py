"""Every schedule on real servers, one after the other, each of them from its beginning.

It checks the graph: it has no model, knows no states, and merges nothing. It must find the same
number of schedules and the same ends. It is slow, some milliseconds for each schedule, and
therefore for small cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from badluck.faults import Faults
from badluck.real_server.backend import RealBackend
from badluck.real_server.server import LiveServer
from badluck.search.automaton import Automaton
from badluck.target import EPOCH

from app.explorer.targets import Target
from tests.integration.explorer.engines.engine import End, Endless
from tests.integration.explorer.engines.schedule_run import Choice, ScheduleRun

LONGEST = 300  # steps of a schedule; a longer one goes round in a circle


@dataclass
class Fork:
    """A step of the current schedule at which there are several choices."""

    untried: list[Choice]
    chosen: Choice | None = None
    went: bool = False  # a buyer could continue from here, or time has passed


class Search:
    def __init__(
        self, target: Target, names: Sequence[str], faults: Faults, servers: Sequence[LiveServer]
    ) -> None:
        """`names` are the buyers', of one letter each."""
        self.target = target
        self.names = names
        self.faults = faults
        self.setup = target.setup()
        # The state before a write is saved only for a failover: it takes time.
        self.stage = RealBackend(servers[: len(self.setup)], remembers=faults.failover > 0)
        self.path: list[Fork] = []

    def ends(self, most: int) -> Counter[End]:
        found: Counter[End] = Counter()
        try:
            with self.target.surroundings():
                places = [Automaton(name, self.target.code, EPOCH) for name in self.names]
                while not found or self.path:
                    self.stage.begin(EPOCH, self.setup)
                    run = ScheduleRun(self.target, places, self.faults, self.stage)
                    if self._goes_to_the_end(run):
                        found[End(run.told(), self.target.book(self.stage.entries()))] += 1
                    if found.total() > most:
                        raise Endless(f"{self.target.name} has more than {most} schedules")
                    run.close()
                    while self.path and not self.path[-1].untried and self.path[-1].went:
                        self.path.pop()
        finally:
            self.stage.close_all()
        return found

    def _goes_to_the_end(self, run: ScheduleRun) -> bool:
        """Repeat the last schedule up to its last fork. False: no choice is left there."""
        for fork in self.path[:-1]:
            if fork.chosen:
                run.repeat(fork.chosen)
        if not self.path:
            self.path.append(Fork(run.choices()))
        while self._goes_on(run, self.path[-1]):
            self.path.append(Fork(run.choices()))
            if len(self.path) > LONGEST:
                raise Endless(f"{self.target.name} has a schedule of more than {LONGEST} steps")
        return self.path.pop().chosen is None

    @staticmethod
    def _goes_on(run: ScheduleRun, fork: Fork) -> bool:
        while fork.untried:
            choice = fork.untried.pop(0)
            if run.tries(choice):
                fork.chosen = choice
                fork.went = fork.went or choice.kind == "goes"
                return True
        if fork.went:
            return False
        fork.went = True
        fork.chosen = run.time_passes() or fork.chosen
        return fork.chosen is not None and fork.chosen.kind == "time"
