"""setnx_expire: SETNX, then a lease as a second command. An exhibit: broken on purpose.

How       SETNX key token → EXPIRE key lease; release: WATCH → GET → compare → MULTI/DEL/EXEC
Prevents  two holders, releasing another's lock, most locks held forever by a dead holder
Breaks    a holder that dies between the two commands leaves a lock without a lease: held forever
          (and work that outlives the lease: the next one enters while the first is still inside)
Cost      five round trips, and one each ms for every waiter; leases in whole seconds
Sound     never: a lock without a lease exists for a moment at every acquire
Taught    The lifetime is a second command. A holder that dies between the two leaves a lock without
          end: rarer than without EXPIRE, and just as final. The first tutorial says itself that two
          commands are not atomic, and ends with them all the same. The release of the fifth
          compares bytes with text, so each sale waits for the end of the previous lease.
"""

from __future__ import annotations

from typing import Unpack

import redis

from app.locks.handle import LEASE_S, Handle, How


class SetNxExpire(Handle):
    name = "setnx_expire"
    exhibit = True
    cost = (5, 7)
    tutorials = (1, 5)
    poll_s = (0.001, 0.001)
    whole_seconds = True  # EXPIRE counts them, and 0 would delete the key

    def __init__(
        self, store: redis.Redis, key: str, lease_s: float = LEASE_S, **how: Unpack[How]
    ) -> None:
        super().__init__(store, key, lease_s, **how)
        self.store = store
        self.token = self.clock.token()

    def attempt(self) -> bool:
        if not self.store.setnx(self.key, self.token):
            return False
        # If the process dies here, its lock never expires.
        self.ends = self.clock.now() + self.lease_s
        self.store.expire(self.key, int(self.lease_s))
        return True

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
