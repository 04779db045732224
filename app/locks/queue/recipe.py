"""queue: a fair line. Who comes first is served first, and the release calls the next one.

How       a script takes the lock or puts me in line; the release's script calls the next one
          (by a message; whoever is called takes it; a fencing token rises with every hand-over)
Prevents  two holders, starvation, polling, lost wake-ups, a stall behind a dead or frozen waiter
Breaks    a holder frozen for longer than its lease: the next one enters, and a blind write follows
          (without think time the write itself asks whose lock it is, and is refused)
Cost      two round trips when free, three after a wait; a first and a long wait cost more
Sound     while its holder is not frozen for longer than the lease; without think time always
Taught    No tutorial has it: all of theirs poll, and who polls may starve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from app.domain import Clock
from app.locks.handle import Handle
from app.locks.queue.cohort import Held
from app.locks.queue.contender import Contender
from app.locks.queue.line import HANDOVER, Line
from app.store.servers import Servers


class Queue(Handle):
    name = "queue"
    exhibit = False
    cost = (2, 2)
    tutorials = ()
    outlived = False  # it is renewed

    def __init__(
        self,
        servers: Servers,
        clock: Clock,
        key: str,
        lease: float,
        cohort: int = 0,
        renew: bool = True,
    ) -> None:
        """`cohort` is the most passes inside this process; `renew` keeps the lease alive."""
        super().__init__(servers, clock, key, lease)
        self.renew = renew
        self.contender = Contender(servers.store, clock, key, lease, cohort, counts=self.counts)
        self.held: Held | None = None
        self.stop_renewal: Callable[[], None] = lambda: None

    @property
    def fence(self) -> int | None:
        """The fencing token: higher than that of every holder before me."""
        return self.held.fence if self.held else None

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        """Stand in line: no polling, so this is not the loop that the others have."""
        self.held = self.contender.acquire(self.clock.token(), blocking, timeout)
        if self.held is None:
            return False
        self.ends = self.held.ends
        if self.renew:
            self.stop_renewal = self.clock.every(self.lease / 3, self._renew)
        return True

    def attempt(self) -> bool:
        return self.acquire(blocking=False)

    def free(self) -> bool:
        self.stop_renewal()
        held, self.held = self.held, None
        return held is not None and self.contender.release(held)

    def extend(self, seconds: float) -> bool:
        """Let the lease end `seconds` from now. False, and nothing done: not mine any more."""
        if self.held is None or not self.contender.keep(self.held, seconds):
            self.lose()
            return False
        self.ends = self.held.ends
        return True

    def owned(self) -> bool:
        """Ask the server: is it mine?"""
        holder = self.servers.store.get(self.key)
        return self.held is not None and holder == self.held.token.encode()

    def locked(self) -> bool:
        """Ask the server: is it anybody's?"""
        return bool(self.servers.store.exists(self.key))

    def _renew(self) -> bool:
        """Every third of a lease. False, and so the last time, when it is not mine any more."""
        held = self.held
        if held is None:
            return False
        kept = self.contender.renew(held)
        if self.held is not held:
            return False  # released while we asked: that it is not mine any more is no loss
        if not kept:
            self.lose()
            return False
        self.counts.renewals += 1
        self.ends = held.ends
        return True


class Fused:
    """The lock around a section that is itself commands: they travel with it.

    Acquire brings what is to be read; release writes, frees and calls the next, in one step, if
    the lock is still mine. Two trips a section, and no blind write: always sound.
    """

    def __init__(self, servers: Servers, clock: Clock, key: str, lease: float) -> None:
        # No work is done meanwhile: who takes longer than a hand-over may, is frozen.
        self.line = Line(servers.store, clock, key, min(lease, HANDOVER), tokens=0)
        self.clock = clock

    def acquire(self, reads: Sequence[str], timeout: float) -> list[Any] | None:
        """The values of the keys `reads`; None when my turn did not come within `timeout` s."""
        # A token for each turn: a word to an earlier one must not pass for this one's.
        self.token = self.clock.token()
        grant = self.line.acquire(self.token, True, timeout, reads)
        return None if grant is None else grant.values

    def release(self, *commands: Sequence[Any]) -> bool:
        """Do `commands` (name, key, ...) and go. False: too late, nothing was done.

        One that answers nil (SET with NX or XX) was refused: none behind it is done, and it is
        False, too.
        """
        return self.line.release(self.token, commands)
