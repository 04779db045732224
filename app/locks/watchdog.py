"""watchdog: a lease that is renewed for as long as the work takes.

How       SET key token NX PX lease; each lease/3 a compare-and-PEXPIRE script; compare-and-delete
Prevents  all that `lease` prevents, and work that outlives the lease
Breaks    a holder that stands still, or is cut off, for longer than its lease: the next one enters
          (the holder learns of it, if it asks before it writes)
Cost      two round trips and a thread, one more every lease/3, and one for every poll of a waiter
Sound     while no holder is frozen or cut off beyond the lease, and no failover loses a write
Taught    The third tutorial means to teach three rules. A crash must not hold the lock, the lease
          must outlive the work, and a client releases only its own lock. This recipe keeps them;
          the code as taught does not (watchdog_any).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

import redis

from app.locks.handle import LEASE_S, Handle, How
from app.store import lua


class Watchdog(Handle):
    name = "watchdog"
    exhibit = False
    cost = (2, 2)
    tutorials = (3,)
    outlived = False  # the lease is renewed

    def __init__(
        self, store: redis.Redis, key: str, lease_s: float = LEASE_S, **how: Unpack[How]
    ) -> None:
        super().__init__(store, key, lease_s, **how)
        self.store = store
        self.token = self.clock.token()
        self.delete_if_mine = self.store.register_script(lua.source("release"))
        self.extend_if_mine = self.store.register_script(lua.source("extend"))
        self.working = False
        self.stop_renewing: Callable[[], None]

    def attempt(self) -> bool:
        # The server starts the lease later than now, so this end is early, never late.
        ends = self.clock.now() + self.lease_s
        if self.store.set(self.key, self.token, nx=True, px=round(self.lease_s * 1000)):
            self.ends = ends
            self.working = True
            # Every third of the lease: two renewals may fail before it ends.
            self.stop_renewing = self.clock.every(self.lease_s / 3, self.renew)
            return True
        return False

    def renew(self) -> bool:
        """Renew the lease, in a thread of its own. False: stop renewing."""
        ends = self.clock.now() + self.lease_s
        try:
            mine = bool(
                self.extend_if_mine(keys=[self.key], args=[self.token, round(self.lease_s * 1000)])
            )
        except redis.RedisError:
            # Unknown. Ask again at the next renewal, until the lease must have ended.
            if self.working and not self.lost:
                return True
            mine = False
        if not self.working:
            return False  # released meanwhile: then a refused renewal is no loss
        if not mine:
            self.lose()
            return False
        self.ends = ends
        self.counts.renewals += 1
        return True

    def free(self) -> bool:
        if self.working:
            self.working = False
            self.stop_renewing()
        return bool(self.delete_if_mine(keys=[self.key], args=[self.token]))

    def owned(self) -> bool:
        """Ask the server whether this handle holds the lock."""
        return bool(self.store.get(self.key) == self.token.encode())

    def locked(self) -> bool:
        """Ask the server whether any client holds the lock."""
        return bool(self.store.exists(self.key))
