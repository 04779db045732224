"""One thread's way to the lock: alone in line, or with its cohort."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import redis

from fairlock.clock import Clock, SystemClock
from fairlock.cohort import LEASE_SHARE, PASSING_S, Cohort, CohortMember, Held
from fairlock.queue import HANDOVER_S, Counts, WaitQueue


class Contender:
    """The core of `Lock`, for a lock with another interface. Times in s. Threads may share it."""

    def __init__(
        self,
        client: Any,
        name: str,
        lease_s: float | None,
        *,
        clock: Clock | None = None,
        cohort: int = 0,
        handover_s: float = HANDOVER_S,
        counts: Counts | None = None,
    ) -> None:
        """`lease_s` None is forever; `cohort` limits the passes inside a process, 0 for none."""
        self.clock = clock or SystemClock()
        self.lease_s = lease_s
        self.cohort = cohort
        self.passing_s = PASSING_S if lease_s is None else min(PASSING_S, lease_s * LEASE_SHARE)
        self.queue = WaitQueue(
            client,
            name,
            lease_s,
            clock=self.clock,
            handover_s=handover_s,
            tokens=cohort + 1,
            counts=counts,
        )

    def acquire(
        self, token: str, blocking: bool = True, timeout_s: float | None = None
    ) -> Held | None:
        """Return the held lock; None if it could not be acquired within `timeout_s`
        (None: forever).

        Raises redis.RedisError when the server does not answer.
        """
        now = self.clock.now()
        deadline = now if not blocking else math.inf if timeout_s is None else now + timeout_s
        if not self.cohort:
            return self._enqueue(token, blocking, deadline)
        lease_s = math.inf if self.lease_s is None else self.lease_s
        member = CohortMember()
        try:
            with member.active:
                cohort = Cohort.join(self.queue.client, self.queue.name, lease_s, member, now)
                if blocking and cohort.leader is not member:
                    self.queue.count_wait()
                if cohort.wait_to_lead(member, self.clock, deadline) and not member.held:
                    try:
                        member.held = self._enqueue(token, blocking, deadline, member)
                    except (redis.ConnectionError, redis.TimeoutError) as error:
                        cohort.fail(member, error)
                        raise
            if not member.held:
                cohort.leave(member)
            return member.held
        except BaseException:
            if member.held:  # interrupted after the thread got the lock
                with suppress(redis.RedisError):
                    self.release(member.held)
            elif member.cohort:
                member.cohort.leave(member)
            raise

    def release(self, held: Held) -> bool:
        """Release the lock. True: the caller still had it. Raises redis.RedisError."""
        if held.member is None or held.member.cohort is None:
            return self.queue.release(held.token, ends=held.ends)
        cohort = held.member.cohort
        with held.member.active:
            if cohort.pass_on(held, self.clock.now()):
                return True
            try:
                return self.queue.release(held.token, ends=held.ends)
            finally:
                cohort.leave(held.member)

    def extend(self, held: Held, lease_s: float | None, more: bool = False) -> bool:
        """Let the lease end in `lease_s`, or add that much to it (`more`). False: the caller has
        lost the lock.

        Raises redis.RedisError when the server does not answer.
        """
        ends = self.queue.extend(held.token, lease_s, more)
        if ends is None:
            return False
        held.ends = ends
        return True

    def renew(self, held: Held) -> bool:
        """Renew the lease. False: the lock is lost. After an error, True until `held.ends`."""
        try:
            return self.extend(held, self.lease_s)
        except redis.RedisError:
            return self.clock.now() < held.ends

    def _enqueue(
        self, token: str, blocking: bool, deadline: float, member: CohortMember | None = None
    ) -> Held | None:
        timeout_s = None if deadline == math.inf else max(0.0, deadline - self.clock.now())
        grant = self.queue.acquire(token, blocking, timeout_s)
        if grant is None:
            return None
        pass_until = self.clock.now() + self.passing_s
        return Held(token, grant.fence, grant.ends, pass_until, self.cohort, member)
