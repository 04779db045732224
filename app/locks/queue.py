"""queue: a fair line. First come, first served: the release calls the next buyer in line.

How       a script takes the lock or queues the buyer; the release's script calls the next one
          (by a message; the called buyer takes it; a fencing token rises with every hand-over)
Prevents  two holders, starvation, polling, lost wake-ups, a stall behind a dead or frozen waiter
Breaks    a holder frozen beyond its lease: the next one enters, and the frozen one still writes
Cost      two round trips when free, three after a wait; a first wait and a long wait cost more
Sound     while its holder is not frozen for longer than the lease, and no failover loses a write
Taught    No tutorial has it. In all five a waiter polls, and a waiter that polls may starve.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

import redis
from fairlock import Contender, Held

from app.locks.handle import LEASE_S, Handle, How


class Queue(Handle):
    name = "queue"
    exhibit = False
    cost = (2, 2)
    tutorials = ()
    outlived = False  # the lease is renewed

    def __init__(
        self, store: redis.Redis, key: str, lease_s: float = LEASE_S, **how: Unpack[How]
    ) -> None:
        super().__init__(store, key, lease_s, **how)
        self.store = store
        self.contender: Contender
        self.held: Held | None = None
        self.stop_renewing: Callable[[], None] = lambda: None

    @property
    def fence(self) -> int | None:
        """The fencing token: higher than that of every earlier holder."""
        return self.held.fence if self.held else None

    def obtain(self, blocking: bool, wait_s: float | None) -> bool:
        """Take the lock: wait in line for the call."""
        self.contender = Contender(
            self.store, self.key, self.lease_s, clock=self.clock, counts=self.counts
        )
        self.held = self.contender.acquire(self.clock.token(), blocking, wait_s)
        if self.held is None:
            return False
        self.ends = self.held.ends
        # Every third of the lease: two renewals may fail before it ends.
        self.stop_renewing = self.clock.every(self.lease_s / 3, self.renew)
        return True

    def attempt(self) -> bool:
        return self.obtain(False, None)

    def free(self) -> bool:
        self.stop_renewing()
        held, self.held = self.held, None
        return held is not None and self.contender.release(held)

    def extend(self, lease_s: float) -> bool:
        """Let the lease end `lease_s` from now. False: the lock is lost, and nothing changed."""
        if self.held is None or not self.contender.extend(self.held, lease_s):
            self.lose()
            return False
        self.ends = self.held.ends
        return True

    @property
    def owner(self) -> str:
        return self.held.token if self.held else ""

    def owned(self) -> bool:
        """Ask the server whether this handle holds the lock."""
        holder = self.store.get(self.key)
        return self.held is not None and holder == self.held.token.encode()

    def locked(self) -> bool:
        """Ask the server whether any client holds the lock."""
        return bool(self.store.exists(self.key))

    def renew(self) -> bool:
        """Renew the lease, in a thread of its own. False: stop renewing."""
        held = self.held
        if held is None:
            return False
        is_renewed = self.contender.renew(held)
        if self.held is not held:
            return False  # released meanwhile: then a refused renewal is no loss
        if not is_renewed:
            self.lose()
            return False
        self.counts.renewals += 1
        self.ends = held.ends
        return True
