"""lock: take a lock, then sell as if alone. Exactly as sound as the lock's recipe.

How       lock -> MGET -> check -> script: SET/XADD -> unlock
Prevents  oversell, as long as the recipe keeps everybody else out
Breaks    whatever the recipe lets through: the write does not ask whose lock it is, on purpose
          (it does ask whether the key has bought and the round has ended: no lock tells that)
Cost      two round trips, and the recipe's own
Sound     as its recipe; as to the key, while no failover loses a confirmed write
Taught    Under its lock it reads the stock and writes it less one. The tutorials’ critical section
          is the same: it asks nobody at the write, so all depends on the lock. (The first one’s
          does not even look whether anything is left, and oversells under a perfect lock.)
          Commonly overlooked: had the write a condition (DECR, and give back), no lock could make
          it oversell.
"""

from __future__ import annotations

from dataclasses import replace

from app.domain import Clock, Order, Outcome, Round, Sale
from app.locks import LOCKS
from app.locks.handle import Handle
from app.store import lua
from app.store.keys import Keys
from app.store.per_buyer import PerBuyer
from app.store.servers import Servers


class Lock:
    name = "lock"
    exhibit = False
    needs = "store"
    cost = (2, 2)
    outlived = ""
    no_think = ""
    one_at_a_time = True
    increments = False
    tutorials: tuple[int, ...] = (1,)

    def __init__(self, servers: Servers, clock: Clock, round: Round) -> None:
        self.servers = servers
        self.store = servers.store
        self.clock = clock
        self.round = round
        self.keys = Keys.of(round)
        self.per_buyer = PerBuyer(round)
        self.recipe = LOCKS[round.recipe]
        self.write = servers.store.register_script(lua.source("write"))

    def sell(self, order: Order) -> Sale:
        lock = self.guard()
        if not lock.acquire(wait_s=self.round.wait / 1000):
            return Sale(Outcome.BUSY, attempts=lock.counts.attempts)
        try:
            sale = self.critical_section(order)
        finally:
            still_mine = lock.release()
        # Too late to take the sale back: the buyer keeps it, and the loss is shown.
        return replace(sale, attempts=lock.counts.attempts, lock_lost=not still_mine)

    def guard(self) -> Handle:
        client = getattr(self.servers, self.recipe.needs)
        return self.recipe(client, self.keys.lock, self.round.lease / 1000, clock=self.clock)

    def critical_section(self, order: Order) -> Sale:
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

        outcome, seen = self.write(
            keys=[
                self.keys.stock,
                self.keys.sales,
                self.keys.order(order.id),
                self.keys.key(order.key),
                *self.per_buyer.counter(order),
            ],
            args=[left, order.encode(), *self.per_buyer.counted(order, bought).values()],
        )
        if seen:
            return Sale(Outcome.SOLD, order=Order.decode(seen))
        if outcome == b"ROUND_OVER":
            return Sale(Outcome.ROUND_OVER)
        return Sale(Outcome.SOLD, left=left, order=order)
