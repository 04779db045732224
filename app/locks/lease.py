"""lease: a lock that expires by itself, released only by its owner.

How       SET key token NX PX lease, polled with jitter; release by compare-and-delete script
Prevents  two holders, a lock held forever by a dead holder, releasing another's lock
Breaks    work that outlives the lease: the next one enters while the first is still inside
          (and a lost reply to SET: the holder does not know that it holds the lock, and all wait)
Cost      two round trips, and one for every poll while another holds it
Sound     while the work is shorter than the lease, and no failover loses a write
Taught    Commonly taught wrong: that the owner’s token protects the sale. The token only keeps a
          client from releasing another client’s lock. When the lease ends before the work, as many
          orders of the steps oversell with the token as without it. The second tutorial names that
          hole, and another: a master that fails before its replica has the lock.
"""

from __future__ import annotations

from typing import Unpack

import redis

from app.locks.handle import LEASE_S, Handle, How
from app.store import lua


class Lease(Handle):
    name = "lease"
    exhibit = False
    cost = (2, 2)
    tutorials = (2,)

    def __init__(
        self, store: redis.Redis, key: str, lease_s: float = LEASE_S, **how: Unpack[How]
    ) -> None:
        super().__init__(store, key, lease_s, **how)
        self.store = store
        self.token = self.clock.token()
        self.delete_if_mine = self.store.register_script(lua.source("release"))
        self.extend_if_mine = self.store.register_script(lua.source("extend"))

    def attempt(self) -> bool:
        # The server starts the lease later than now, so this end is early, never late.
        ends = self.clock.now() + self.lease_s
        if self.store.set(self.key, self.token, nx=True, px=round(self.lease_s * 1000)):
            self.ends = ends
            return True
        return False

    def free(self) -> bool:
        return bool(self.delete_if_mine(keys=[self.key], args=[self.token]))

    def extend(self, lease_s: float) -> bool:
        """Let the lease end `lease_s` from now. False: the lock is lost, and nothing changed."""
        ends = self.clock.now() + lease_s
        if self.extend_if_mine(keys=[self.key], args=[self.token, round(lease_s * 1000)]):
            self.ends = ends
            return True
        self.lose()
        return False

    @property
    def owner(self) -> str:
        return self.token

    def owned(self) -> bool:
        """Ask the server whether this handle holds the lock."""
        return bool(self.store.get(self.key) == self.token.encode())

    def locked(self) -> bool:
        """Ask the server whether any client holds the lock."""
        return bool(self.store.exists(self.key))
