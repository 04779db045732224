"""fenced: a lock that expires, and numbers its holders.

How       script: SET key token NX PX lease, and raise the fencing token, in one step
Prevents  all that `lease` prevents; and the data can tell an old holder from a new one
Breaks    no store checks the token by itself: `lock` writes without it, and breaks as with `lease`
          (tokens repeat only if the server loses its newest writes and its clock goes back, too)
Cost      two round trips, and one for every poll while another holds it
Sound     while the work is shorter than the lease, and no failover loses a write
          (in mode `fenced`, which checks the token on every read and write, however long the work)
Taught    No tutorial has it. It answers a question that all five leave open: what if the lease ends
          before the work? The number helps only where the store checks it, at the read and at the
          write (mode fenced).
"""

from __future__ import annotations

from typing import Unpack

import redis

from app.locks.handle import LEASE_S, Handle, How
from app.store import lua


class Fenced(Handle):
    name = "fenced"
    exhibit = False
    cost = (2, 2)
    tutorials = ()

    def __init__(
        self, store: redis.Redis, key: str, lease_s: float = LEASE_S, **how: Unpack[How]
    ) -> None:
        super().__init__(store, key, lease_s, **how)
        self.store = store
        self.token = (
            self.clock.token()
        )  # says which handle owns the lock; the fencing token says which holder is newer
        self.fence: int | None = None  # this holder's fencing token, once acquired
        self.last = f"{key}:fence"  # string: the newest fencing token that was given out
        self.set_and_raise = self.store.register_script(lua.source("acquire_fenced"))
        self.delete_if_mine = self.store.register_script(lua.source("release"))
        self.extend_if_mine = self.store.register_script(lua.source("extend"))

    def attempt(self) -> bool:
        # The server starts the lease later than now, so this end is early, never late.
        ends = self.clock.now() + self.lease_s
        fence = self.set_and_raise(
            keys=[self.key, self.last], args=[self.token, round(self.lease_s * 1000)]
        )
        if fence is None:
            return False
        self.fence, self.ends = fence, ends
        return True

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

    def owned(self) -> bool:
        """Ask the server whether this handle holds the lock."""
        return bool(self.store.get(self.key) == self.token.encode())

    def locked(self) -> bool:
        """Ask the server whether any client holds the lock."""
        return bool(self.store.exists(self.key))
