"""One schedule, really run: the buyers' real code, on real servers, one step after the other.

A step's effect is never predicted: the step is taken, and then observed. If it changes nothing,
neither on a server nor in its buyer's position, it was not a step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from badluck.actor.actor import Actor
from badluck.actor.request import Done, Failed, Hear, Lost, Request, Rest, Send, outcome
from badluck.faults import Faults
from badluck.faults.failover import TAKEOVER_MS
from badluck.real_server.backend import RealBackend, ServersSnapshot
from badluck.search.automaton import Automaton
from badluck.search.graph import LONG_AFTER, SOON
from badluck.target import EPOCH

from app.explorer.targets import Target
from tests.integration.explorer.engines.engine import CRASHED


class Choice(NamedTuple):
    """A possible next step; whether it is one is seen when it is tried."""

    kind: str  # goes, arrives, lost, late, crash, failover, pause, time
    buyer: int = -1
    strand: int = 0
    until: int = 0  # ms since 1970, of a pause and of time that passes


class ScheduleRun:
    """A schedule from its beginning.

    `places` learns the positions in a buyer's code only from the servers' answers. It recognises a
    buyer that polls and is back where it was.
    """

    def __init__(
        self, target: Target, places: Sequence[Automaton], faults: Faults, stage: RealBackend
    ) -> None:
        """`stage` has begun, at EPOCH."""
        self.target = target
        self.places = places
        self.left = faults
        self.stage = stage
        self.now = EPOCH
        self.at = [0] * len(places)
        self.seen: ServersSnapshot | None = (
            None  # the servers, as long as nothing has been done since
        )
        self.buyers = [Actor(place.name, target.code, EPOCH) for place in places]
        self.crashed: set[int] = set()
        self.in_flight: list[Send] = []

    def choices(self) -> list[Choice]:
        """Return all possible next steps, except the time that passes by itself."""
        return [*self._steps(), *self._faults()]

    def _steps(self) -> Iterator[Choice]:
        for number, buyer in self._alive():
            for strand, request in enumerate(buyer.requests):
                if not isinstance(request, Done | Failed):
                    yield Choice("goes", number, strand)
        for nth in range(len(self.in_flight)):
            yield Choice("arrives", strand=nth)

    def _faults(self) -> Iterator[Choice]:
        for number, buyer in self._alive():
            for strand, request in enumerate(buyer.requests):
                if isinstance(request, Send):
                    if self.left.lost:
                        yield Choice("lost", number, strand)
                    if self.left.late:
                        yield Choice("late", number, strand)
            if self.left.crash and not _ended(buyer):
                yield Choice("crash", number)
        if self.left.failover and self.stage.forgets():
            yield Choice("failover")
        if self.left.pause and not self._over():
            for until in sorted(self._pauses()):
                yield Choice("pause", until=until)

    def tries(self, choice: Choice) -> bool:
        """Try the step. False: it was not a step, and all is as before."""
        if choice.kind != "goes":
            return self._takes(choice)
        at, before = self.at[choice.buyer], self._look()
        if not self._takes(choice):
            return False
        return self.at[choice.buyer] != at or self._look() != before

    def repeat(self, choice: Choice) -> None:
        """Repeat a step. Raises RuntimeError when it is not a step this time."""
        if not self._takes(choice):
            raise RuntimeError(f"{self.target.name} does not do the same again: {choice}")

    def time_passes(self) -> Choice | None:
        """Let time pass, as all buyers only wait. None: there is nothing left to wait for."""
        if self._over():
            return None
        patient = self.now if self.in_flight else EPOCH + LONG_AFTER
        until = min(self._deadlines(renewals=True), default=patient)
        if until <= self.now:
            return None
        choice = Choice("time", until=until)
        self._takes(choice)
        return choice

    def told(self) -> tuple[str, ...]:
        """Return each buyer's outcome; "" when he waits forever."""
        return tuple(
            CRASHED if number in self.crashed else outcome(buyer.requests[0])
            for number, buyer in enumerate(self.buyers)
        )

    def close(self) -> None:
        for buyer in self.buyers:
            buyer.drop()

    def _takes(self, choice: Choice) -> bool:
        if choice.kind in ("goes", "lost"):
            return self._go_on(choice)
        if choice.kind == "late":
            return self._give_up(choice)
        self.seen = None
        if choice.kind == "arrives":
            sent = self.in_flight.pop(choice.strand)
            self.stage.send(*sent)
            self.stage.close(sent.connection)
            return True
        if choice.kind in ("pause", "time"):
            self.now = choice.until
            self.stage.pass_time(choice.until)
        elif choice.kind == "failover":
            which = self.stage.written and self.stage.written[0]
            self.in_flight = [one for one in self.in_flight if int(one.connection[0]) != which]
            self.stage.fail_over()
            self.now += TAKEOVER_MS
            self.stage.pass_time(self.now)
        elif choice.kind == "crash":
            self._crash(choice.buyer)
        else:
            raise NotImplementedError(f"{choice.kind} on real servers")
        if choice.kind != "time":
            self.left = self.left.less(choice.kind)
        return True

    def _crash(self, number: int) -> None:
        for name in list(self.buyers[number].open):
            self.stage.close(name)
        self.buyers[number].drop()
        self.crashed.add(number)

    def _go_on(self, choice: Choice) -> bool:
        buyer = self.buyers[choice.buyer]
        request = buyer.requests[choice.strand]
        answer: Any = None
        if isinstance(request, Send):
            answer = self.stage.send(request.connection, request.commands)
        elif isinstance(request, Hear):
            answer = self.stage.hear(request.connection) or None
        if answer is None and not self._is_due(request):
            return False
        if choice.kind == "lost":
            if isinstance(answer, Lost):
                return False  # it broke before: there is no reply that could be lost
            answer, self.left = Lost(), self.left.less("lost")
        self.seen = None
        at = self.at[choice.buyer]
        moved = self.places[choice.buyer].move(at, choice.strand, answer, self.now)
        self.at[choice.buyer] = moved.to
        buyer.go_on(choice.strand, answer, self.now)
        for name in buyer.closed:
            self.stage.close(name)
        return True

    def _give_up(self, choice: Choice) -> bool:
        """The buyer gives up on its command, which arrives later."""
        buyer = self.buyers[choice.buyer]
        request = buyer.requests[choice.strand]
        if not isinstance(request, Send) or request.connection in self.stage.broken:
            return False
        at = self.at[choice.buyer]
        moved = self.places[choice.buyer].move(at, choice.strand, Lost(), self.now)
        if request.connection not in moved.closed:
            return False  # of a pipeline only the last
        self.left, self.seen = self.left.less("late"), None
        self.in_flight.append(request)
        self.at[choice.buyer] = moved.to
        buyer.go_on(choice.strand, Lost(), self.now)
        for name in buyer.closed:
            if name != request.connection:
                self.stage.close(name)
        return True

    def _is_due(self, request: Request) -> bool:
        """Is its wait over?"""
        if isinstance(request, Hear | Rest):
            return request.until is not None and request.until <= self.now
        return False

    def _look(self) -> ServersSnapshot:
        if self.seen is None:
            self.seen = self.stage.view()
        return self.seen

    def _deadlines(self, renewals: bool) -> set[int]:
        """Return when something happens by itself."""
        found = {
            until + 1 for keys in self._look().keys for _, until in keys.values() if until >= 0
        }
        for _, buyer in self._alive():
            for request in buyer.requests:
                if isinstance(request, Hear) or (renewals and isinstance(request, Rest)):
                    found.add(request.until or 0)
        return {until for until in found if self.now < until <= self.now + SOON}

    def _pauses(self) -> set[int]:
        found = self._deadlines(renewals=False)
        # Some leases are only times that buyers compare with their own clocks.
        if not found and any(buyer.tells_time for _, buyer in self._alive()):
            return {self.now + pause for pause in self.target.pauses}
        return found

    def _alive(self) -> Iterator[tuple[int, Actor]]:
        for number, buyer in enumerate(self.buyers):
            if number not in self.crashed:
                yield number, buyer

    def _over(self) -> bool:
        return not self.in_flight and all(_ended(buyer) for _, buyer in self._alive())


def _ended(buyer: Actor) -> bool:
    return isinstance(buyer.requests[0], Done | Failed)
