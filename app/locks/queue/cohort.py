"""The threads of one process that want the same lock: one stands in line for all of them.

When it has the lock it passes it on inside, without the server, so many times and for PASSING
seconds; then the other processes have their turn. A pass costs a thread switch, where a
hand-over through the server costs three trips.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import redis

from app.domain import Clock

# s for which the lock may stay in the process: a dozen sections of two trips each. Whoever works
# longer than that gains nothing by a pass, and the others wait no longer than they must.
PASSING = 0.003
SHARE = 0.1  # of the lease, after which it is not passed on: who gets it has the rest for its work
LOOK = 1.0  # s between two looks of who sits, whether somebody leads

Key = tuple[str, float]  # with the client, what makes it the same: name, lease
_cohorts: weakref.WeakKeyDictionary[Any, dict[Key, Cohort]] = weakref.WeakKeyDictionary()
_mutex = threading.Lock()  # of `_cohorts` and all that is in them; never held while waiting


def _forked() -> None:
    """A child's threads are not those that sit here, and nobody would unlock the mutex for it."""
    global _mutex
    _mutex = threading.Lock()
    _cohorts.clear()


os.register_at_fork(after_in_child=_forked)


@dataclass(slots=True)
class Held:
    """The lock in one thread's hands."""

    token: str
    fence: int
    ends: float  # when the lease ends at the latest, by `clock.now()`
    pass_until: float
    passes: int  # that are left
    seat: Seat | None = None  # in a cohort


class Seat:
    """A thread in its cohort: it sits, or leads."""

    def __init__(self) -> None:
        self.cohort: Cohort | None = None
        self.held: Held | None = None
        self.error: Exception | None = None  # who led could not reach the server
        # Locked while the thread is in acquire or release. A `with` unlocks it however the thread
        # leaves: between that and the next line there is no room for an interrupt.
        self.here = threading.Lock()
        self._bell = threading.Lock()
        self._bell.acquire()

    def ring(self) -> None:
        self._bell.release()

    def wait(self, seconds: float) -> None:
        self._bell.acquire(timeout=seconds)


class Cohort:
    """One thread leads: it holds the lock or stands in line for it. The others sit.

    A thread may be interrupted (KeyboardInterrupt) between any two lines. So a new leader is one
    assignment, and a leader that is not here any more leads no longer, whatever it left undone.
    """

    def __init__(self, known: dict[Key, Cohort], key: Key) -> None:
        self.known = known
        self.key = key
        self.seats: deque[Seat] = deque()
        self.leader: Seat | None = None

    @staticmethod
    def join(client: Any, name: str, lease: float, seat: Seat, now: float) -> Cohort:
        """The cohort for this lock; `seat` sits in it now, or leads."""
        key = (name, lease)
        with _mutex:
            known = _cohorts.setdefault(client, {})
            cohort = known.get(key)
            if cohort is None:
                cohort = known[key] = Cohort(known, key)
            seat.cohort = cohort
            if cohort._vacant(now):
                cohort.leader = seat
            else:
                cohort.seats.append(seat)
            return cohort

    def sit(self, seat: Seat, clock: Clock, deadline: float) -> bool:
        """Until it leads, with the lock (`seat.held`) or without; False at the deadline.

        Raises the leader's error when that could not reach the server.
        """
        while True:
            with _mutex:
                now = clock.now()
                if seat.error:
                    away = redis.TimeoutError, redis.ConnectionError
                    kind = next(kind for kind in away if isinstance(seat.error, kind))
                    raise kind(*seat.error.args) from seat.error
                if self.leader is seat:
                    return True
                if now >= deadline:
                    return False
                if self._vacant(now):
                    seat.held = None
                    self.leader = seat
                    self.seats.remove(seat)
                    return True
            seat.wait(min(deadline - now, self.key[-1], LOOK))

    def pass_on(self, held: Held, now: float) -> bool:
        """Give the lock to the next thread. False: nobody sits there, or it is time to go."""
        with _mutex:
            if self.leader is None or self.leader is not held.seat:
                return False  # deposed: somebody leads already
            may = held.passes and now < min(held.pass_until, held.ends)
            if may and self._call(held):
                return True
            self.leader.held = None  # it takes the lock to the server, and leads while it is here
            return False

    def fail(self, seat: Seat, error: Exception) -> None:
        """The server is away: all who sit hear of it, and need not find out one by one."""
        with _mutex:
            while self.leader is seat and self.seats:
                self.seats[0].error = error
                self.seats.popleft().ring()

    def leave(self, seat: Seat) -> None:
        """Get up; the leader is done with the server: the next thread stands in line."""
        with _mutex:
            if self.leader is not seat:
                with suppress(ValueError):  # deposed
                    self.seats.remove(seat)
            elif not self._call(None):
                self.leader = None
                self.known.pop(self.key, None)

    def _call(self, held: Held | None) -> bool:
        """The next one leads, with the lock or without. False: nobody sits here."""
        while self.seats:
            seat = self.seats[0]
            if seat.here.locked() and seat is not self.leader:
                seat.held = held and replace(
                    held, fence=held.fence + 1, passes=held.passes - 1, seat=seat
                )
                self.leader = seat
                self.seats.popleft()
                seat.ring()
                return True
            self.seats.popleft()  # interrupted: it left nothing but its seat
        return False

    def _vacant(self, now: float) -> bool:
        """Does nobody lead? The holder's lease has ended, or who has no lock is not here."""
        if self.leader is None:
            return True
        held = self.leader.held
        return now >= held.ends if held else not self.leader.here.locked()
