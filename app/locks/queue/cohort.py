"""The threads of one process that want the same lock: one stands in line for all of them.

When it has the lock it passes it on inside, without the server, so many times and for PASSING
seconds; then the other processes have their turn. A pass costs a thread switch, where a
hand-over through the server costs three trips.
"""

from __future__ import annotations

import math
import os
import threading
import weakref
from collections import deque
from dataclasses import dataclass, replace
from typing import Any

from app.domain import Clock

# s for which the lock may stay in the process: a dozen sections of two trips each. Whoever works
# longer than that gains nothing by a pass, and the others wait no longer than they must.
PASSING = 0.003
SHARE = 0.1  # of the lease, after which it is not passed on: who gets it has the rest for its work

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
    cohort: Cohort | None = None


class Seat:
    """A thread waiting inside its process. Called with the lock, or without: then it leads."""

    def __init__(self) -> None:
        self.held: Held | None = None
        self.called = False
        self._call = threading.Lock()
        self._call.acquire()

    def call(self, held: Held | None) -> None:
        self.held, self.called = held, True
        self._call.release()

    def wait(self, seconds: float) -> None:
        self._call.acquire(timeout=min(seconds, threading.TIMEOUT_MAX))


class Cohort:
    """One thread leads: it holds the lock or stands in line for it. The others sit."""

    def __init__(self, known: dict[Key, Cohort], key: Key) -> None:
        self.known = known
        self.key = key
        self.seats: deque[Seat] = deque()
        self.current: Held | None = None  # None: the leader is still in line

    @staticmethod
    def join(client: Any, name: str, lease: float, now: float) -> tuple[Cohort, Seat | None]:
        """The cohort for this lock and a seat in it; no seat: lead."""
        key = (name, lease)
        with _mutex:
            known = _cohorts.setdefault(client, {})
            cohort = known.get(key)
            if cohort is None:
                cohort = known[key] = Cohort(known, key)
                return cohort, None
            if cohort._deposed(now):
                return cohort, None
            cohort.seats.append(seat := Seat())
            return cohort, seat

    def sit(self, seat: Seat, clock: Clock, deadline: float) -> bool:
        """Until called; False at the deadline. Leads, too, when the holder's lease has ended.

        (Its thread may have died with the lock in its hands.)
        """
        try:
            while True:
                with _mutex:
                    now = clock.now()
                    if seat.called:
                        return True
                    if now >= deadline or self._deposed(now):
                        self.seats.remove(seat)
                        return now < deadline
                seat.wait(min(deadline - now, self.key[-1]))
        except BaseException:
            with _mutex:
                if not seat.called:
                    self.seats.remove(seat)
                    raise
            # Called in the same moment: whoever sits next shall have it.
            if seat.held is None or not self.pass_on(seat.held, -math.inf):
                self.step_down(seat.held)
            raise

    def lead(self, held: Held) -> Held:
        """The leader has the lock."""
        with _mutex:
            held.cohort, self.current = self, held
        return held

    def pass_on(self, held: Held, now: float) -> bool:
        """Give the lock to the next thread. False: nobody sits there, or it is time to go."""
        with _mutex:
            mine = self.current is held and held.passes and now < min(held.pass_until, held.ends)
            if not mine or not self.seats:
                return False
            self.current = replace(held, fence=held.fence + 1, passes=held.passes - 1)
            self.seats.popleft().call(self.current)
            return True

    def step_down(self, held: Held | None) -> None:
        """The leader is done with the server: the next thread stands in line."""
        with _mutex:
            if self.current is not held:
                return  # deposed: somebody leads already
            self.current = None
            if self.seats:
                self.seats.popleft().call(None)
            else:
                self.known.pop(self.key, None)

    def _deposed(self, now: float) -> bool:
        """Has the holder's lease ended? Then it leads no longer."""
        if self.current is None or now < self.current.ends:
            return False
        self.current = None
        return True
