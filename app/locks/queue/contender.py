"""One thread's way to the lock: alone in line, or with its cohort."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import redis

from app.domain import Clock
from app.locks.handle import Counts
from app.locks.queue.cohort import PASSING, SHARE, Cohort, Held, Seat
from app.locks.queue.line import HANDOVER, Line


class Contender:
    """What the recipe and the drop-in for redis-py's Lock are both made of."""

    def __init__(
        self,
        client: Any,
        clock: Clock,
        name: str,
        lease: float | None,
        cohort: int = 0,
        handover: float = HANDOVER,
        counts: Counts | None = None,
    ) -> None:
        """`lease` in s, None for ever; `cohort` is the most passes inside a process, 0 for none."""
        self.clock = clock
        self.lease = lease
        self.cohort = cohort
        self.passing = PASSING if lease is None else min(PASSING, lease * SHARE)
        self.line = Line(client, clock, name, lease, handover, tokens=cohort + 1, counts=counts)

    def acquire(
        self, token: str, blocking: bool = True, timeout: float | None = None
    ) -> Held | None:
        """Raises redis.RedisError when the server does not answer."""
        now = self.clock.now()
        deadline = now if not blocking else math.inf if timeout is None else now + timeout
        if not self.cohort:
            return self._stand_in_line(token, blocking, deadline)
        lease = math.inf if self.lease is None else self.lease
        seat = Seat()
        try:
            with seat.here:
                cohort = Cohort.join(self.line.client, self.line.name, lease, seat, now)
                if cohort.leader is not seat:
                    self.line.counts.waits += blocking
                if cohort.sit(seat, self.clock, deadline) and not seat.held:
                    try:
                        seat.held = self._stand_in_line(token, blocking, deadline, seat)
                    except (redis.ConnectionError, redis.TimeoutError) as error:
                        cohort.fail(seat, error)
                        raise
            if not seat.held:
                cohort.leave(seat)
            return seat.held
        except BaseException:
            if seat.held:  # interrupted when it had it already
                with suppress(redis.RedisError):
                    self.release(seat.held)
            elif seat.cohort:
                seat.cohort.leave(seat)
            raise

    def release(self, held: Held) -> bool:
        """True: it was still mine. Raises redis.RedisError."""
        if held.seat is None or held.seat.cohort is None:
            return self.line.release(held.token, ends=held.ends)
        cohort = held.seat.cohort
        with held.seat.here:
            if cohort.pass_on(held, self.clock.now()):
                return True
            try:
                return self.line.release(held.token, ends=held.ends)
            finally:
                cohort.leave(held.seat)

    def keep(self, held: Held, seconds: float | None, more: bool = False) -> bool:
        """Let the lease end `seconds` from now, or so much later. False: not mine any more."""
        ends = self.line.keep(held.token, seconds, more)
        if ends is None:
            return False
        held.ends = ends
        return True

    def renew(self, held: Held) -> bool:
        """Keep it for a whole lease. False: it is lost. A server that is away may come back."""
        try:
            return self.keep(held, self.lease)
        except redis.RedisError:
            return self.clock.now() < held.ends

    def _stand_in_line(
        self, token: str, blocking: bool, deadline: float, seat: Seat | None = None
    ) -> Held | None:
        timeout = None if deadline == math.inf else max(0.0, deadline - self.clock.now())
        grant = self.line.acquire(token, blocking, timeout)
        if grant is None:
            return None
        pass_until = self.clock.now() + self.passing
        return Held(token, grant.fence, grant.ends, pass_until, self.cohort, seat)
