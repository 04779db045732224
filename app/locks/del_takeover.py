"""del_takeover: see it expired, delete it, take it. An exhibit: broken on purpose.

How       SETNX key stamp; else GET -> passed? -> DEL -> SETNX key stamp
Prevents  a lock held for ever by a dead holder
Breaks    two see the same dead lock; the second one's DEL removes the first one's new lock
Cost      two round trips; two for every poll while another holds it; leases in whole seconds
Sound     never: what the DEL deletes is not what the GET saw
Taught    What it warns of, and rightly: what is deleted need not be what was looked at. GETSET is
          its repair, and has holes of its own.
"""

from __future__ import annotations

from app.domain import Clock
from app.locks.handle import Handle
from app.store.servers import Servers


class DelTakeover(Handle):
    name = "del_takeover"
    exhibit = True
    cost = (2, 2)
    tutorials = (4,)

    def __init__(self, servers: Servers, clock: Clock, key: str, lease: float) -> None:
        super().__init__(servers, clock, key, lease)
        self.store = servers.store
        self.stamp = 0  # when my lock ends, in whole seconds since 1970, by my clock

    def attempt(self) -> bool:
        wall = self.clock.wall()
        stamp = int(wall + self.lease) + 1
        if self.store.setnx(self.key, stamp) or self.take_over(int(wall), stamp):
            self.stamp = stamp
            self.ends = self.clock.now() + stamp - self.clock.wall()
            return True
        return False

    def take_over(self, now: int, stamp: int) -> bool:
        """Remove a lock whose stamp has passed, and take it if nobody is quicker."""
        seen = self.store.get(self.key)
        if seen is None or now <= int(seen):
            return False
        # Whoever saw the same stamp may have done both by now: then this removes a living lock.
        self.store.delete(self.key)
        return bool(self.store.setnx(self.key, stamp))

    def free(self) -> bool:
        if self.clock.wall() >= self.stamp:
            return False  # it may be another's by now
        return bool(self.store.delete(self.key))

    def locked(self) -> bool:
        """Ask the server: is it anybody's, by my clock?"""
        seen = self.store.get(self.key)
        return seen is not None and int(self.clock.wall()) <= int(seen)
