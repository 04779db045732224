"""watch: read the stock, then write it back only if no other client wrote.

How       WATCH → MGET → check → MULTI/SET/XADD/EXEC, again when EXEC aborts
Prevents  oversell
Breaks    attempts or patience run out under contention: BUSY while stock remains
Cost      three round trips, and three more for every lost race
Sound     while no failover loses a confirmed write
Taught    As taught in the first tutorial, the GET goes over a second connection. On one master that
          does not oversell. But each buyer then needs two connections, so a small pool deadlocks,
          and a replica may answer with an old stock. It also catches every error and tries again
          forever. This mode retries a lost race only, and not forever.
"""

from __future__ import annotations

from redis import WatchError
from redis.client import Pipeline

from app.domain import Order, Outcome, Sale
from app.modes.mode import StoreMode, retried


class Watch(StoreMode):
    name = "watch"
    cost = (3, 7)
    increments = True
    tutorials = (1,)

    def sell(self, order: Order) -> Sale:
        return retried(self.attempt, order, self.clock, self.round)

    def attempt(self, order: Order) -> Sale:
        with self.store.pipeline() as pipe:
            return self.race(pipe, order)

    def race(self, pipe: Pipeline, order: Order) -> Sale:
        """BUSY: another client wrote before our EXEC."""
        # WATCH on the client would use another connection.
        pipe.watch(*self.sales.reads(order))
        stock, earlier = self.sales.read(pipe, order)
        if earlier.answer:
            return earlier.answer

        self.clock.sleep(self.round.think / 1000)

        left = stock - order.quantity
        pipe.multi()
        pipe.set(self.keys.stock, left)
        self.sales.record(pipe, order, earlier)
        try:
            pipe.execute()
        except WatchError:
            return Sale(Outcome.BUSY, left=stock)
        return Sale(Outcome.SOLD, left=left, order=order)
