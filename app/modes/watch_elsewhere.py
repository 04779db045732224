"""watch_elsewhere: WATCH over one connection, EXEC over another. An exhibit: broken on purpose.

How       WATCH (connection 1) → MGET → check → MULTI/SET/XADD/EXEC (connection 2)
Prevents  nothing: an EXEC checks only the keys that its own connection watches
Breaks    EXEC never aborts: two buyers read the same stock and both write it, oversell
Cost      five round trips and two connections a buyer
Sound     never
Taught    None of the five tutorials teaches it, but others often say that a client watches. It is a
          connection that watches: a WATCH over one connection protects no EXEC over another.
          Libraries with a pool of connections make this mistake easy.
"""

from __future__ import annotations

from redis import WatchError
from redis.client import Pipeline

from app.domain import Order, Outcome, Sale
from app.modes.mode import StoreMode, retried


class WatchElsewhere(StoreMode):
    name = "watch_elsewhere"
    exhibit = True
    cost = (5, 9)

    def sell(self, order: Order) -> Sale:
        return retried(self.attempt, order, self.clock, self.round)

    def attempt(self, order: Order) -> Sale:
        with self.store.pipeline() as elsewhere, self.store.pipeline() as pipe:
            return self.race(elsewhere, pipe, order)

    def race(self, elsewhere: Pipeline, pipe: Pipeline, order: Order) -> Sale:
        """Try once. BUSY only at the round's end: a lost race goes unnoticed."""
        # One connection watches, the other one writes: the same happens where each call borrows
        # a connection from a pool.
        elsewhere.watch(*self.sales.reads(order))
        pipe.watch(self.keys.ended)  # so we notice the round's end
        stock, earlier = self.sales.read(elsewhere, order)
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
