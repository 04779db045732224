"""watch: read the stock, then write it back only if nobody else wrote.

How       WATCH -> MGET -> check -> MULTI/SET/XADD/EXEC, again when EXEC aborts
Prevents  oversell
Breaks    attempts or patience run out under contention: BUSY while stock remains
Cost      three round trips, and three more for every lost race
Sound     while no failover loses a confirmed write
Taught    As taught, its GET goes over a second connection. On one master that does not oversell;
          but each buyer then needs two connections, so that a small pool locks itself up, and a
          replica may answer with an old stock. And it catches every error and tries again, for
          ever: here only a lost race is tried again, and that not for ever.
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


class Watch:
    name = "watch"
    exhibit = False
    needs = "store"
    cost = (3, 7)
    outlived = ""
    no_think = ""
    one_at_a_time = False
    increments = True
    tutorials: tuple[int, ...] = (1,)

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
        """One race. BUSY: somebody else wrote between our read and our EXEC."""
        with self.store.pipeline() as pipe:
            # WATCH belongs on the pipeline: on the client it would go out over some other
            # connection and watch for nobody.
            pipe.watch(self.keys.stock, self.keys.key(order.key), *self.per_buyer.counter(order))
            stock, seen, *bought = pipe.mget(
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
