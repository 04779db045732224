"""watch_elsewhere: WATCH over one connection, EXEC over another. An exhibit: broken on purpose.

How       WATCH (connection 1) -> MGET -> check -> MULTI/SET/XADD/EXEC (connection 2)
Prevents  nothing: an EXEC asks only what its own connection has watched
Breaks    EXEC never aborts: two buyers read the same stock and both write it, oversell
Cost      five round trips and two connections a buyer
Sound     never
Taught    By none of the five, but often elsewhere: that a client watches. A connection does, so a
          WATCH over another one than the EXEC’s asks nothing. Libraries with a pool make this easy
          to write.
"""

from __future__ import annotations

from dataclasses import replace

import redis

from app.domain import Clock, Order, Outcome, Round, Sale
from app.store.keys import Keys
from app.store.per_buyer import PerBuyer
from app.store.servers import Servers

# Full jitter, 1 to 256 ms: the n-th pause is a random share of 2**n ms. Near the best for
# goodput at 8, 32 and 128 contenders; a cap of 8 ms sells less and is fairer.
BACKOFF = 0.001
BACKOFF_CAP = 0.256


class WatchElsewhere:
    name = "watch_elsewhere"
    exhibit = True
    needs = "store"
    cost = (5, 9)
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
        deadline = self.clock.now() + self.round.wait / 1000
        for attempt in range(1, self.round.attempts + 1):
            sale = self.attempt(order)
            if sale.outcome is not Outcome.BUSY:
                return replace(sale, attempts=attempt, conflicts=attempt - 1)
            pause = self.clock.random() * min(BACKOFF_CAP, BACKOFF * 2**attempt)
            if self.clock.now() + pause > deadline:
                break
            self.clock.sleep(pause)
        return replace(sale, attempts=attempt, conflicts=attempt)

    def attempt(self, order: Order) -> Sale:
        """One race, so it believes; but nobody is ever told of one that was lost."""
        with self.store.pipeline() as elsewhere, self.store.pipeline() as pipe:
            # One connection watches, the other writes: so it goes where every call borrows its
            # own from a pool.
            elsewhere.watch(
                self.keys.stock, self.keys.key(order.key), *self.per_buyer.counter(order)
            )
            pipe.watch(self.keys.ended)  # of the round's end we hear
            stock, seen, *bought = elsewhere.mget(
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

            pipe.multi()
            pipe.set(self.keys.stock, left)
            pipe.xadd(self.keys.sales, {"sale": order.encode()})
            pipe.mset(self.keys.copies(order) | self.per_buyer.counted(order, bought))
            try:
                pipe.execute()
            except redis.WatchError:
                return Sale(Outcome.BUSY, left=int(stock))
            return Sale(Outcome.SOLD, left=left, order=order)
