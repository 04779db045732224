"""unowned: a lock that expires, and that any client can release. An exhibit: broken on purpose.

How       SET key token NX PX lease, polled with jitter; release by a plain DEL, without a check
Prevents  a lock held forever by a dead holder; two holders, until the first release is late
Breaks    a holder that outlived its lease deletes the next holder's lock: a third one enters, too
          (neither holder learns of it: DEL deleted a lock, so the release reports success)
Cost      two round trips, and one for every poll while another holds it
Sound     never: after one late release, clients keep entering in pairs
Taught    The first tutorial shows it as the cure for SETNX and EXPIRE: SET with NX and a lifetime,
          and a plain DEL. (It then ends with SETNX and EXPIRE.) The second tutorial warns of that
          DEL, and rightly: a late holder deletes the next holder’s lock.
"""

from __future__ import annotations

from typing import Unpack

import redis

from app.locks.handle import LEASE_S, Handle, How


class Unowned(Handle):
    name = "unowned"
    exhibit = True
    cost = (2, 2)
    tutorials = (1, 2)

    def __init__(
        self, store: redis.Redis, key: str, lease_s: float = LEASE_S, **how: Unpack[How]
    ) -> None:
        super().__init__(store, key, lease_s, **how)
        self.store = store
        self.token = self.clock.token()  # written, but never compared

    def attempt(self) -> bool:
        ends = self.clock.now() + self.lease_s
        if self.store.set(self.key, self.token, nx=True, px=round(self.lease_s * 1000)):
            self.ends = ends
            return True
        return False

    def free(self) -> bool:
        return bool(self.store.delete(self.key))

    def locked(self) -> bool:
        """Ask the server whether any client holds the lock."""
        return bool(self.store.exists(self.key))
