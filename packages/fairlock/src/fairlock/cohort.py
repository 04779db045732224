"""The threads of one process that want the same lock: one stands in line for all of them.

When it has the lock it passes it on inside, without the server, so many times and for PASSING_S;
then the other processes have their turn. A pass costs a thread switch, where a
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

from fairlock.clock import Clock

# For which the lock may stay in the process: a dozen sections of two trips each. Whoever works
# longer than that gains nothing by a pass, and the others wait no longer than they must.
PASSING_S = 0.003
LEASE_SHARE = 0.1  # after which it is not passed on: who gets it has the rest for its work
CHECK_S = 1.0  # between two looks of a follower, whether somebody leads

Key = tuple[str, float]  # with the client, what makes it the same: name, lease
_cohorts: weakref.WeakKeyDictionary[Any, dict[Key, Cohort]] = weakref.WeakKeyDictionary()
_mutex = threading.Lock()  # of `_cohorts` and all that is in them; never held while waiting


def _forked() -> None:
    """A child's threads are not those that wait here, and nobody would unlock the mutex for it."""
    global _mutex
    _mutex = threading.Lock()
    _cohorts.clear()


os.register_at_fork(after_in_child=_forked)


@dataclass(slots=True)
class Held:
    """The lock in one thread's hands."""

    token: str
    fence: int  # higher than that of every holder before
    ends: float  # when the lease ends at the latest, by `clock.now()`
    pass_until: float  # by the same clock: then the other processes have their turn
    passes: int  # that are left
    member: CohortMember | None = None  # in a cohort


class CohortMember:
    """A thread in its cohort: it leads, or follows and waits."""

    def __init__(self) -> None:
        self.cohort: Cohort | None = None
        self.held: Held | None = None
        self.error: Exception | None = None  # who led could not reach the server
        # Locked while the thread is in acquire or release. A `with` unlocks it however the thread
        # leaves: between that and the next line there is no room for an interrupt.
        self.active = threading.Lock()
        self._signal = threading.Lock()
        self._signal.acquire()

    def wake(self) -> None:
        self._signal.release()

    def wait(self, seconds: float) -> None:
        self._signal.acquire(timeout=seconds)


class Cohort:
    """One thread leads: it holds the lock or stands in line for it. The others follow.

    A thread may be interrupted (KeyboardInterrupt) between any two lines. So a new leader is one
    assignment, and a leader that is not here any more leads no longer, whatever it left undone.
    """

    def __init__(self, known: dict[Key, Cohort], key: Key) -> None:
        self.known = known
        self.key = key
        self.followers: deque[CohortMember] = deque()
        self.leader: CohortMember | None = None

    @staticmethod
    def join(client: Any, name: str, lease_s: float, member: CohortMember, now: float) -> Cohort:
        """The cohort for this lock; `member` follows in it now, or leads."""
        key = (name, lease_s)
        with _mutex:
            known = _cohorts.setdefault(client, {})
            cohort = known.get(key)
            if cohort is None:
                cohort = known[key] = Cohort(known, key)
            member.cohort = cohort
            if cohort._leaderless(now):
                cohort.leader = member
            else:
                cohort.followers.append(member)
            return cohort

    def wait_to_lead(self, member: CohortMember, clock: Clock, deadline: float) -> bool:
        """Until it leads, with the lock (`member.held`) or without; False at the deadline.

        Raises the leader's error when that could not reach the server.
        """
        while True:
            with _mutex:
                now = clock.now()
                if member.error:
                    away = redis.TimeoutError, redis.ConnectionError
                    kind = next(kind for kind in away if isinstance(member.error, kind))
                    raise kind(*member.error.args) from member.error
                if self.leader is member:
                    return True
                if now >= deadline:
                    return False
                if self._leaderless(now):
                    member.held = None
                    self.leader = member
                    self.followers.remove(member)
                    return True
            member.wait(min(deadline - now, self.key[-1], CHECK_S))

    def pass_on(self, held: Held, now: float) -> bool:
        """Give the lock to the next thread. False: nobody follows, or it is time to go."""
        with _mutex:
            if self.leader is None or self.leader is not held.member:
                return False  # deposed: somebody leads already
            may = held.passes and now < min(held.pass_until, held.ends)
            if may and self._promote(held):
                return True
            self.leader.held = None  # it takes the lock to the server, and leads while it is here
            return False

    def fail(self, member: CohortMember, error: Exception) -> None:
        """The server is away: all who follow hear of it, and need not find out one by one."""
        with _mutex:
            while self.leader is member and self.followers:
                self.followers[0].error = error
                self.followers.popleft().wake()

    def leave(self, member: CohortMember) -> None:
        """Go; when it was the leader, the next thread stands in line."""
        with _mutex:
            if self.leader is not member:
                with suppress(ValueError):  # deposed
                    self.followers.remove(member)
            elif not self._promote(None):
                self.leader = None
                self.known.pop(self.key, None)

    def _promote(self, held: Held | None) -> bool:
        """The next one leads, with the lock or without. False: nobody follows."""
        while self.followers:
            member = self.followers[0]
            if member.active.locked() and member is not self.leader:
                member.held = held and replace(
                    held, fence=held.fence + 1, passes=held.passes - 1, member=member
                )
                self.leader = member
                self.followers.popleft()
                member.wake()
                return True
            self.followers.popleft()  # interrupted: it left nothing but its name
        return False

    def _leaderless(self, now: float) -> bool:
        """Does nobody lead? The holder's lease has ended, or who has no lock is not here."""
        if self.leader is None:
            return True
        held = self.leader.held
        return now >= held.ends if held else not self.leader.active.locked()
