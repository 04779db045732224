"""naive: read the stock, then write it back. An exhibit: broken on purpose.

How       MGET -> check -> SET -> XADD, each a command of its own
Prevents  nothing
Breaks    two buyers read the same stock and both write it less one: a lost update, oversell
Cost      four round trips
Sound     never
Taught    No tutorial sells like this: it is where all of them begin, the code that one writes as if
          nobody else were there.
"""

from __future__ import annotations

from app.domain import Clock, Order, Outcome, Round, Sale
from app.store.keys import Keys
from app.store.per_buyer import PerBuyer
from app.store.servers import Servers


class Naive:
    name = "naive"
    exhibit = True
    needs = "store"
    cost = (4, 4)
    outlived = ""
    no_think = ""
    one_at_a_time = False
    increments = False
    tutorials: tuple[int, ...] = ()

    def __init__(self, servers: Servers, clock: Clock, round: Round) -> None:
        self.store = servers.store
        self.clock = clock
        self.round = round
        self.keys = Keys.of(round)
        self.per_buyer = PerBuyer(round)

    def sell(self, order: Order) -> Sale:
        stock, seen, *bought = self.store.mget(
            self.keys.stock, self.keys.key(order.key), *self.per_buyer.counter(order)
        )
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

        # Whoever read the same stock meanwhile writes the same number: one of the two units
        # sold is never taken. Nor are these one step: a crash in between loses a unit.
        if not self.store.set(self.keys.stock, left, xx=True):
            return Sale(Outcome.ROUND_OVER)  # XX: a round that has ended has no stock, gets none
        self.store.xadd(self.keys.sales, {"sale": order.encode()})
        self.store.mset(self.keys.copies(order) | self.per_buyer.counted(order, bought))
        return Sale(Outcome.SOLD, left=left, order=order)
