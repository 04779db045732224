"""read_before_watch: read the stock, WATCH it, then write. An exhibit: broken on purpose.

How       MGET → check → WATCH → MULTI/SET/XADD/EXEC, again when EXEC aborts
Prevents  only a write by another client between WATCH and EXEC
Breaks    a write between MGET and WATCH goes unnoticed: a lost update, oversell
Cost      four round trips, and four more for every lost race
Sound     never
Taught    None of the five tutorials teaches it, but others often say that a WATCH makes a sale safe
          wherever it is sent. A stock that is read before the WATCH may be old already. WATCH
          notices no earlier change.
"""

from __future__ import annotations

from redis import WatchError
from redis.client import Pipeline

from app.domain import Order, Outcome, Sale
from app.modes.mode import StoreMode, retried


class ReadBeforeWatch(StoreMode):
    name = "read_before_watch"
    exhibit = True
    cost = (4, 8)

    def sell(self, order: Order) -> Sale:
        return retried(self.attempt, order, self.clock, self.round)

    def attempt(self, order: Order) -> Sale:
        with self.store.pipeline() as pipe:
            return self.race(pipe, order)

    def race(self, pipe: Pipeline, order: Order) -> Sale:
        """BUSY: another client wrote between our WATCH and our EXEC."""
        pipe.watch(self.keys.ended)  # so we notice the round's end
        stock, earlier = self.sales.read(pipe, order)
        if earlier.answer:
            return earlier.answer

        self.clock.sleep(self.round.think / 1000)

        # Too late: WATCH notices changes from now on, and the stock read above may be old already.
        pipe.watch(*self.sales.reads(order))
        left = stock - order.quantity
        pipe.multi()
        pipe.set(self.keys.stock, left)
        self.sales.record(pipe, order, earlier)
        try:
            pipe.execute()
        except WatchError:
            return Sale(Outcome.BUSY, left=stock)
        return Sale(Outcome.SOLD, left=left, order=order)
