"""naive: read the stock, then write it back. An exhibit: broken on purpose.

How       MGET → check → SET → XADD, each a command of its own
Prevents  nothing
Breaks    two buyers read the same stock and both write it less one: a lost update, oversell
Cost      four round trips
Sound     never
Taught    No tutorial sells like this. It is where all of them begin: code for a single buyer.
"""

from __future__ import annotations

from app.domain import Order, Outcome, Sale
from app.modes.mode import StoreMode


class Naive(StoreMode):
    name = "naive"
    exhibit = True
    cost = (4, 4)

    def sell(self, order: Order) -> Sale:
        stock, earlier = self.sales.read(self.store, order)
        if earlier.answer:
            return earlier.answer

        self.clock.sleep(self.round.think / 1000)

        left = stock - order.quantity
        # Two buyers that read the same stock write the same:
        # two sold, one taken. A crash after SET loses a unit.
        if not self.store.set(self.keys.stock, left, xx=True):
            return Sale(Outcome.ROUND_OVER)  # XX: no stock
        self.sales.record(self.store, order, earlier)
        return Sale(Outcome.SOLD, left=left, order=order)
