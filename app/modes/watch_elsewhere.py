"""watch_elsewhere: WATCH over one connection, EXEC over another. An exhibit: broken on purpose.

How       WATCH (connection 1) -> MGET -> check -> MULTI/SET/XADD/EXEC (connection 2)
Prevents  nothing: an EXEC asks only what its own connection has watched
Breaks    EXEC never aborts: two buyers read the same stock and both write it, oversell
Cost      five round trips and two connections a buyer
Sound     never
Taught    None of the five tutorials teaches it, but others often do: that a client watches. A
          connection does: a WATCH over one connection protects no EXEC of another. Libraries with a
          pool make this mistake easy.
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
        """One race, so it believes; but nobody is ever told of one that was lost."""
        # One connection watches, the other writes: so it goes where every call borrows its
        # own from a pool.
        elsewhere.watch(*self.sales.reads(order))
        pipe.watch(self.keys.ended)  # of the round's end we hear
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
