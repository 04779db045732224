"""del_takeover: see it expired, delete it, take it. An exhibit: broken on purpose.

How       SETNX key stamp; else GET → passed? → DEL → SETNX key stamp
Prevents  a lock held forever by a dead holder
Breaks    two clients see the same dead lock; the second one's DEL removes the first one's new lock
Cost      two round trips; two for every poll while another holds it; leases in whole seconds
Sound     never: the DEL may delete another lock than the GET saw
Taught    The fourth tutorial warns of it, and rightly: DEL may delete another lock than the one
          that GET saw. GETSET is its repair, and has holes too.
"""

from __future__ import annotations

from typing import Unpack

import redis

from app.locks.handle import LEASE_S, Handle, How


class DelTakeover(Handle):
    name = "del_takeover"
    exhibit = True
    cost = (2, 2)
    tutorials = (4,)

    def __init__(
        self, store: redis.Redis, key: str, lease_s: float = LEASE_S, **how: Unpack[How]
    ) -> None:
        super().__init__(store, key, lease_s, **how)
        self.store = store
        self.stamp = 0  # when the lock ends: whole seconds since 1970, by this client's clock

    def attempt(self) -> bool:
        wall = self.clock.wall()
        stamp = int(wall + self.lease_s) + 1
        if self.store.setnx(self.key, stamp) or self.take_over(int(wall), stamp):
            self.stamp = stamp
            self.ends = self.clock.now() + stamp - self.clock.wall()
            return True
        return False

    def take_over(self, now: int, stamp: int) -> bool:
        """Remove a lock whose stamp has passed, and take it if no other client is quicker."""
        expiry = self.store.get(self.key)
        if expiry is None or now <= int(expiry):
            return False
        # A client that saw the same stamp may have done both by now: this deletes its new lock.
        self.store.delete(self.key)
        return bool(self.store.setnx(self.key, stamp))

    def free(self) -> bool:
        if self.clock.wall() >= self.stamp:
            return False  # another client may hold it by now
        return bool(self.store.delete(self.key))

    def locked(self) -> bool:
        """Ask the server whether any client holds the lock, by this client's clock."""
        expiry = self.store.get(self.key)
        return expiry is not None and int(self.clock.wall()) <= int(expiry)
