"""read_before_watch: read the stock, WATCH it, then write. An exhibit: broken on purpose.

How       MGET -> check -> WATCH -> MULTI/SET/XADD/EXEC, again when EXEC aborts
Prevents  only that somebody writes between WATCH and EXEC
Breaks    a write between MGET and WATCH goes unnoticed: a lost update, oversell
Cost      four round trips, and four more for every lost race
Sound     never
Taught    By none of the five, but often elsewhere: that WATCH makes a sale safe wherever it stands.
          Read before the WATCH, the stock may be old already, and what happened before the WATCH
          is not noticed.
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


class ReadBeforeWatch:
    name = "read_before_watch"
    exhibit = True
    needs = "store"
    cost = (4, 8)
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
        """One race. BUSY: somebody else wrote between our WATCH and our EXEC."""
        with self.store.pipeline() as pipe:
            pipe.watch(self.keys.ended)  # of the round's end we hear in time
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

            # Too late: WATCH tells of changes from here on, and what was read may be old already.
            pipe.watch(self.keys.stock, self.keys.key(order.key), *self.per_buyer.counter(order))
            pipe.multi()
            pipe.set(self.keys.stock, left)
            pipe.xadd(self.keys.sales, {"sale": order.encode()})
            pipe.mset(self.keys.copies(order) | self.per_buyer.counted(order, bought))
            try:
                pipe.execute()
            except redis.WatchError:
                return Sale(Outcome.BUSY, left=int(stock))
            return Sale(Outcome.SOLD, left=left, order=order)
