"""lease: a lock that expires by itself, released only by its owner.

How       SET key token NX PX lease, polled with jitter; release by compare-and-delete script
Prevents  two holders, a lock held for ever by a dead holder, releasing another's lock
Breaks    work that outlives the lease: the next one enters while the first is still inside
          (and a lost reply to SET: nobody knows that he holds it, and all wait for the lease)
Cost      two round trips, and one for every poll while another holds it
Sound     while the work is shorter than the lease
"""

from __future__ import annotations

import redis

from app.domain import Clock
from app.store import lua

# Between polls: a random 1 to 5 ms. All waiters at the same beat would meet at every beat.
POLL_LOW = 0.001
POLL_HIGH = 0.005


class Lease:
    name = "lease"
    exhibit = False

    def __init__(self, store: redis.Redis, clock: Clock, key: str, lease: float) -> None:
        self.store = store
        self.clock = clock
        self.key = key
        self.lease = lease
        self.token = clock.token()
        self.attempts = 0
        self.script = store.register_script(lua.source("release"))

    def acquire(self, patience: float) -> bool:
        deadline = self.clock.now() + patience
        while True:
            self.attempts += 1
            if self.store.set(self.key, self.token, nx=True, px=round(self.lease * 1000)):
                return True
            pause = POLL_LOW + self.clock.random() * (POLL_HIGH - POLL_LOW)
            if self.clock.now() + pause > deadline:
                return False
            self.clock.sleep(pause)

    def release(self) -> bool:
        return bool(self.script(keys=[self.key], args=[self.token]))
