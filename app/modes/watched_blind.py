"""watched_blind: watch the lock, but never check its owner. An exhibit: broken on purpose.

How       lock → WATCH lock → MGET stock → check → MULTI/SET/XADD/DEL lock/EXEC
Prevents  oversell by a lock that is lost after the WATCH: EXEC aborts
Breaks    a lock that expired before its WATCH goes unnoticed, and two such buyers oversell
          (a single one deletes the next owner's lock, and that owner's sale aborts)
Cost      four round trips (the sale releases, too), and one for every poll
Sound     never
Taught    The fifth tutorial has a good idea, that a lost lock aborts the sale: WATCH the lock, then
          sell and release in one MULTI. But its code does not look at the lock after the WATCH, so
          a lock that expired before goes unnoticed. watched_blind is as taught, watched looks. The
          last example there has no EXEC: nothing is sold, and the lock stays.
"""

from __future__ import annotations

from dataclasses import replace

import redis

from app.domain import Order, Outcome, Sale
from app.locks.lease import Lease
from app.modes.mode import LockingMode
from app.text import Text


class WatchedBlind(LockingMode):
    name = "watched_blind"
    exhibit = True
    cost = (4, 9)
    outlived = Text("BUSY while stock remains")
    one_at_a_time = True
    tutorials = (5,)
    recipe = Lease

    def sell(self, order: Order) -> Sale:
        deadline = self.clock.now() + self.round.wait / 1000
        sale, tries, conflicts, lost = Sale(Outcome.BUSY), 0, 0, False
        for _ in range(self.round.attempts):
            lock = Lease(self.store, self.keys.lock, self.lease_s, clock=self.clock)
            mine = lock.acquire(wait_s=max(0, deadline - self.clock.now()))
            tries += lock.counts.attempts
            if not mine:
                break
            sale = self.critical_section(order, lock)
            conflicts += sale.conflicts
            if sale.outcome is not Outcome.BUSY:
                break
            # A retry sells nothing twice: if only the reply to EXEC was lost, the next read finds
            # the sale under its key.
            lost = True
            if self.clock.now() > deadline:  # acquire() would still take a free lock
                break
        return replace(sale, attempts=tries, conflicts=conflicts, lock_lost=lost)

    def critical_section(self, order: Order, lock: Lease) -> Sale:
        """BUSY: the lock was lost, and nothing was sold. The lock is released in any case."""
        sold = False
        try:
            with self.store.pipeline() as pipe:
                pipe.watch(self.keys.lock, self.keys.ended)
                # WATCH notices changes from now on. The lock may have expired before: its owner is
                # not checked.
                stock, earlier = self.sales.read(pipe, order)
                if earlier.answer:
                    return earlier.answer

                self.clock.sleep(self.round.think / 1000)

                left = stock - order.quantity
                pipe.multi()
                pipe.set(self.keys.stock, left)
                self.sales.record(pipe, order, earlier)
                pipe.delete(self.keys.lock)
                try:
                    pipe.execute()
                except redis.WatchError:
                    return Sale(Outcome.BUSY, left=stock, conflicts=1)
                sold = True
                return Sale(Outcome.SOLD, left=left, order=order)
        finally:
            if not sold:
                lock.release()
