"""watched: lock, and let a lost lock abort the sale.

How       lock -> WATCH lock -> MGET lock (mine?), stock -> check -> MULTI/SET/XADD/DEL lock/EXEC
Prevents  oversell, also when the work outlives the lease: EXEC aborts when the lock has changed
Breaks    work that always outlives the lease never sells: BUSY while stock remains
Cost      four round trips (the sale releases, too), and one for every poll
Sound     while no failover loses a confirmed write
Taught    It has a good idea, that a lock which was lost aborts the sale: WATCH the lock, then sell
          and release in one MULTI. But as taught it does not look at the lock after the WATCH, so
          one that expired before goes unnoticed. watched_blind is as taught, watched looks. The
          last example there has no EXEC: nothing is sold, and the lock stays.
"""

from __future__ import annotations

from dataclasses import replace

import redis

from app.domain import Clock, Order, Outcome, Round, Sale
from app.locks.lease import Lease
from app.store.keys import Keys
from app.store.per_buyer import PerBuyer
from app.store.servers import Servers
from app.text import Text


class Watched:
    name = "watched"
    exhibit = False
    needs = "store"
    cost = (4, 9)
    outlived: str = Text("BUSY while stock remains")
    no_think = ""
    one_at_a_time = True
    increments = False
    tutorials: tuple[int, ...] = (5,)

    def __init__(self, servers: Servers, clock: Clock, round: Round) -> None:
        self.store = servers.store
        self.clock = clock
        self.round = round
        self.keys = Keys.of(round)
        self.per_buyer = PerBuyer(round)

    def sell(self, order: Order) -> Sale:
        deadline = self.clock.now() + self.round.wait / 1000
        sale, tries, conflicts, lost = Sale(Outcome.BUSY), 0, 0, False
        for _ in range(self.round.attempts):
            lock = self.guard()
            mine = lock.acquire(wait_s=max(0, deadline - self.clock.now()))
            tries += lock.counts.attempts
            if not mine:
                break
            sale = self.critical_section(order, lock)
            conflicts += sale.conflicts
            if sale.outcome is not Outcome.BUSY:
                break
            # Trying again sells nothing twice: if it was but the reply to EXEC that was lost, the
            # next look finds the sale under its key.
            lost = True
            if self.clock.now() > deadline:  # a lock that is free would be taken all the same
                break
        return replace(sale, attempts=tries, conflicts=conflicts, lock_lost=lost)

    def guard(self) -> Lease:
        return Lease(self.store, self.keys.lock, self.round.lease / 1000, clock=self.clock)

    def critical_section(self, order: Order, lock: Lease) -> Sale:
        """BUSY: the lock was lost, and nothing sold. It is released in any case."""
        sold = False
        try:
            with self.store.pipeline() as pipe:
                pipe.watch(self.keys.lock, self.keys.ended)
                # Only now look whose it is: WATCH tells of changes from here on, and the lock may
                # have expired before. The round's end does not touch the lock: watch that, too.
                holder, stock, seen, *bought = pipe.mget(
                    self.keys.lock,
                    self.keys.stock,
                    self.keys.key(order.key),
                    *self.per_buyer.counter(order),
                )
                if holder != lock.token.encode():
                    return Sale(Outcome.BUSY)
                if seen:
                    return Sale(Outcome.SOLD, order=Order.decode(seen))
                if stock is None:
                    return Sale(Outcome.ROUND_OVER)
                left = int(stock) - order.quantity
                if left < 0:
                    return Sale(Outcome.SOLD_OUT, left=int(stock))
                if refusal := self.per_buyer.refusal(order, bought, int(stock)):
                    return refusal

                self.clock.sleep(self.round.think / 1000)

                pipe.multi()
                pipe.set(self.keys.stock, left)
                pipe.xadd(self.keys.sales, {"sale": order.encode()})
                pipe.mset(self.keys.copies(order) | self.per_buyer.counted(order, bought))
                pipe.delete(self.keys.lock)
                try:
                    pipe.execute()
                except redis.WatchError:
                    return Sale(Outcome.BUSY, left=int(stock), conflicts=1)
                sold = True
                return Sale(Outcome.SOLD, left=left, order=order)
        finally:
            if not sold:
                lock.release()
