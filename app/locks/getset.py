"""getset: the lock's value is the time of its end. An exhibit: broken on purpose.

How       SETNX key stamp; else GET → passed? → GETSET a new stamp → had the old passed? taken
Prevents  a lock held forever by a dead holder; two holders, as long as all clocks agree
Breaks    each client's clock decides: a fast clock takes a lock that is still held
          (a loser's GETSET overwrites the owner's stamp; two equal stamps cannot be told apart)
Cost      two round trips; two for every poll while another holds it; leases in whole seconds
Sound     never: no two machines' clocks agree for long
Taught    The lock’s value is a time, so the clock of every machine decides who owns the lock. A
          client that loses has already overwritten the owner’s time by its GETSET. Two owners with
          the same time cannot be told apart. The code also takes the reply to GET for a number: if
          the holder has just left, the asking thread dies.
"""

from __future__ import annotations

from typing import Unpack

import redis

from app.locks.handle import LEASE_S, Handle, How


class GetSet(Handle):
    name = "getset"
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
        """Overwrite a stamp that has passed. False: it has not passed, or another was quicker."""
        expiry = self.store.get(self.key)
        if expiry is None or now <= int(expiry):
            return False
        before = self.store.getset(self.key, stamp)
        # Not passed: another client took the lock between our GET and our GETSET. That client
        # holds the lock, but its stamp is lost: the key has our value now.
        return before is None or now > int(before)

    def free(self) -> bool:
        if self.clock.wall() >= self.stamp:
            return False  # another client may hold it by now
        return bool(self.store.delete(self.key))

    def locked(self) -> bool:
        """Ask the server whether any client holds the lock, by this client's clock."""
        expiry = self.store.get(self.key)
        return expiry is not None and int(self.clock.wall()) <= int(expiry)
