"""The threads of one process that want the same lock: one stands in line for all of them.

A thread that has the lock passes it on within the process, without the server, as often and as long
as its `Held` allows. Then the other processes have their turn. A pass costs a thread switch; a
hand-over through the server costs three round trips.
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

# How long the lock may stay in the process: a dozen sections of two round trips each. A longer
# section gains nothing from a pass, and other processes should not have to wait for it.
PASSING_S = 0.003
LEASE_SHARE = 0.1  # of the lease; then no thread passes the lock on: the next one needs the rest
CHECK_S = 1.0  # how often a follower checks that there is a leader

Key = tuple[str, float]  # a lock of the client: its name and lease
_cohorts: weakref.WeakKeyDictionary[Any, dict[Key, Cohort]] = weakref.WeakKeyDictionary()
_mutex = threading.Lock()  # guards `_cohorts` and all that is in them; never held while waiting


def _forked() -> None:
    """Forget the cohorts in a forked child: their threads, which unlock, are in the parent."""
    global _mutex
    _mutex = threading.Lock()
    _cohorts.clear()


os.register_at_fork(after_in_child=_forked)


@dataclass(slots=True)
class Held:
    """One thread's hold on the lock."""

    token: str
    fence: int  # higher than that of every holder before
    ends: float  # when the lease ends at the latest, by `clock.now()`
    pass_until: float  # by the same clock; then other processes have their turn
    passes: int  # that are left
    member: CohortMember | None = None  # in a cohort


class CohortMember:
    """A thread in its cohort: it leads, or follows and waits."""

    def __init__(self) -> None:
        self.cohort: Cohort | None = None
        self.held: Held | None = None
        self.error: Exception | None = None  # the leader could not reach the server
        # Locked while the thread is in acquire or release. A `with` unlocks it on every way out:
        # no interrupt can come between the block and the unlocking.
        self.active = threading.Lock()
        self._signal = threading.Lock()
        self._signal.acquire()

    def wake(self) -> None:
        self._signal.release()

    def wait(self, seconds: float) -> None:
        self._signal.acquire(timeout=seconds)


class Cohort:
    """One thread leads: it holds the lock or stands in line for it. The others follow.

    A thread may be interrupted (KeyboardInterrupt) between any two lines. So a new leader is set by
    one assignment. A leader that has left no longer leads, even if its cleanup was interrupted.
    """

    def __init__(self, known: dict[Key, Cohort], key: Key) -> None:
        self.known = known
        self.key = key
        self.followers: deque[CohortMember] = deque()
        self.leader: CohortMember | None = None

    @staticmethod
    def join(client: Any, name: str, lease_s: float, member: CohortMember, now: float) -> Cohort:
        """Return the cohort for this lock, after `member` has joined it as a follower or as the
        leader.
        """
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
        """Wait until `member` leads, with the lock (`member.held`) or without; False: too late.

        Raises the leader's error when the leader could not reach the server.
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
        """Give the lock to the next thread. False: no follower, too late, or not the leader."""
        with _mutex:
            if self.leader is None or self.leader is not held.member:
                return False  # deposed: another thread leads already
            may = held.passes and now < min(held.pass_until, held.ends)
            if may and self._promote(held):
                return True
            self.leader.held = None  # the leader frees the lock on the server, then leaves
            return False

    def fail(self, member: CohortMember, error: Exception) -> None:
        """Pass the error on to all followers. Otherwise each in turn would wait for a server that
        does not answer.
        """
        with _mutex:
            while self.leader is member and self.followers:
                self.followers[0].error = error
                self.followers.popleft().wake()

    def leave(self, member: CohortMember) -> None:
        """Remove `member`; if it led, the next thread leads, and stands in line."""
        with _mutex:
            if self.leader is not member:
                with suppress(ValueError):  # a deposed leader is no follower
                    self.followers.remove(member)
            elif not self._promote(None):
                self.leader = None
                self.known.pop(self.key, None)

    def _promote(self, held: Held | None) -> bool:
        """Make the next follower the leader, with the lock or without. False: no follower."""
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
            self.followers.popleft()  # interrupted: only its entry is left
        return False

    def _leaderless(self, now: float) -> bool:
        """Say whether no thread leads: none is set, or the leader's lease has ended, or it left."""
        if self.leader is None:
            return True
        held = self.leader.held
        return now >= held.ends if held else not self.leader.active.locked()
