"""setnx: a lock that only its holder ever removes. An exhibit: broken on purpose.

How       SETNX key token, polled each ms; release: WATCH → GET → compare → MULTI/DEL/EXEC
Prevents  two holders, releasing another's lock
Breaks    a holder that dies never releases: all others wait until a person deletes the lock
          (the same after a lost reply to SETNX: the holder does not know that it holds the lock)
Cost      four round trips, and one each ms for every waiter
Sound     never: one dead holder ends the sale for all
Taught    Right in the first tutorial: a token, and a release that compares it. Wrong: the lock has
          no end, so one holder that dies stops the sale until a person deletes the key. The lock is
          first shown without a token. And the sale under it never checks whether stock is left: it
          oversells under a perfect lock.
"""

from __future__ import annotations

from typing import Unpack

import redis

from app.locks.handle import LEASE_S, Handle, How


class SetNx(Handle):
    name = "setnx"
    exhibit = True
    cost = (4, 6)
    tutorials = (1,)
    poll_s = (0.001, 0.001)
    outlived = False  # it has no lease

    def __init__(
        self, store: redis.Redis, key: str, lease_s: float = LEASE_S, **how: Unpack[How]
    ) -> None:
        super().__init__(store, key, lease_s, **how)
        self.store = store
        self.token = self.clock.token()

    def attempt(self) -> bool:
        return bool(self.store.setnx(self.key, self.token))

    def free(self) -> bool:
        try:
            return self.delete_if_mine()
        except redis.WatchError:
            # Another client wrote between our GET and our EXEC, or the connection broke there:
            # redis-py raises the same error for both. A second GET shows which.
            return self.delete_if_mine()

    def delete_if_mine(self) -> bool:
        with self.store.pipeline(transaction=True) as pipe:
            pipe.watch(self.key)
            if pipe.get(self.key) != self.token.encode():
                return False
            pipe.multi()
            pipe.delete(self.key)
            pipe.execute()
            return True

    def owned(self) -> bool:
        """Ask the server whether this handle holds the lock."""
        return bool(self.store.get(self.key) == self.token.encode())

    def locked(self) -> bool:
        """Ask the server whether any client holds the lock."""
        return bool(self.store.exists(self.key))
