"""watchdog_any: a renewed lease without an owner. An exhibit: broken on purpose.

How       SETEX key lease token; each lease/3 EXISTS → EXPIRE; release: GET → compare, never DEL
Prevents  nothing
Breaks    SETEX ignores the current holder: all callers get the lock at once
          (and the key stays forever: the thread renews any owner's lock, also after its holder has
          left or died, and no release deletes it, as bytes never equal a str)
Cost      two round trips and a thread; two more every lease/3, forever
Sound     never
Taught    This is the third tutorial’s lock as written. SETEX overwrites another holder’s lock. The
          watchdog prolongs any lock forever; below a lease of 3 s its sleep is 0, a busy loop. The
          release compares bytes with text, so it never happens. Leaving also closes the client that
          all share. Today’s redis-py reconnects and retries commands in flight: no error appears,
          but a DECR may count twice.
"""

from __future__ import annotations

from typing import Unpack
from weakref import WeakKeyDictionary

import redis

from app.locks.handle import LEASE_S, Handle, How

# The keys that this process renews, by client.
RENEWED: WeakKeyDictionary[redis.Redis, dict[str, object]] = WeakKeyDictionary()


class WatchdogAny(Handle):
    name = "watchdog_any"
    exhibit = True
    cost = (2, 2)
    tutorials = (3,)
    outlived = False  # the lease is renewed, and keeps no client out anyway
    whole_seconds = True  # SETEX counts them, and 0 would be an error

    def __init__(
        self, store: redis.Redis, key: str, lease_s: float = LEASE_S, **how: Unpack[How]
    ) -> None:
        super().__init__(store, key, lease_s, **how)
        self.store = store
        self.token = self.clock.token()

    def attempt(self) -> bool:
        self.store.execute_command("SETEX", self.key, int(self.lease_s), self.token)
        # As taught, every acquire leaves a thread behind, forever. A stampede would leave thousands
        # that all do the same: here the first thread renews for all.
        mine = object()
        if RENEWED.setdefault(self.store, {}).setdefault(self.key, mine) is mine:
            self.clock.every(self.lease_s / 3, lambda: self.watch())  # no method: never ends
        return True

    def watch(self) -> bool:
        """Renew the key each lease/3, forever. The owner is never checked."""
        try:
            if self.store.exists(self.key):
                self.store.expire(self.key, int(self.lease_s))
                self.counts.renewals += 1
        except redis.RedisError:
            # As taught, no code catches this error: the thread dies unnoticed.
            del RENEWED[self.store][self.key]
            return False
        return True

    def free(self) -> bool:
        owner: object = self.store.get(self.key)
        if owner == self.token:  # bytes against str: never
            self.store.delete(self.key)
            return True
        return False
