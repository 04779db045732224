"""unowned: a lock that expires, released by whoever comes. An exhibit: broken on purpose.

How       SET key token NX PX lease, polled with jitter; release by a plain DEL that asks nobody
Prevents  a lock held for ever by a dead holder; two holders, until the first release is late
Breaks    a holder that outlived its lease deletes the lock of the next: a third enters beside it
          (and neither is told: the DEL found a lock, so the release says that it was still mine)
Cost      two round trips, and one for every poll while another holds it
Sound     never: one late release lets all that follow in by twos
Taught    Warned of there, and rightly: the same lock with a plain DEL for a release. Who is late
          deletes the next one’s lock.
"""

from __future__ import annotations

from app.domain import Clock
from app.locks.handle import Handle
from app.store.servers import Servers


class Unowned(Handle):
    name = "unowned"
    exhibit = True
    cost = (2, 2)
    tutorials = (2,)

    def __init__(self, servers: Servers, clock: Clock, key: str, lease: float) -> None:
        super().__init__(servers, clock, key, lease)
        self.store = servers.store
        self.token = clock.token()  # written, and never looked at

    def attempt(self) -> bool:
        ends = self.clock.now() + self.lease
        if self.store.set(self.key, self.token, nx=True, px=round(self.lease * 1000)):
            self.ends = ends
            return True
        return False

    def free(self) -> bool:
        return bool(self.store.delete(self.key))

    def locked(self) -> bool:
        """Ask the server: is it anybody's?"""
        return bool(self.store.exists(self.key))
