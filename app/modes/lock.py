"""lock: take a lock, then sell as if alone. Exactly as sound as the lock's recipe.

How       lock → MGET → check → script: SET/XADD → unlock
Prevents  oversell, as long as the recipe keeps all other buyers out
Breaks    whatever the recipe lets through: on purpose, the write does not check the lock's owner
          (it does check whether the key has bought and the round has ended: no lock shows that)
Cost      two round trips, and the recipe's own
Sound     as its recipe; as to the key, while no failover loses a confirmed write
Taught    Under its lock it reads the stock and writes it less one, as the tutorials do. The write
          checks nothing, so all depends on the lock. (The first tutorial does not even check
          whether stock is left, and oversells under a perfect lock.) Commonly overlooked: with a
          conditional write (DECR, and give back), no lock could make it oversell.
"""

from __future__ import annotations

from dataclasses import replace

from app.domain import Clock, Order, Outcome, Round, Sale
from app.locks import LOCKS
from app.modes.mode import LockingMode
from app.store import lua
from app.store.servers import Servers


class Lock(LockingMode):
    name = "lock"
    cost = (2, 2)
    one_at_a_time = True
    tutorials = (1,)

    def __init__(self, servers: Servers, clock: Clock, round: Round) -> None:
        super().__init__(servers, clock, round)
        self.recipe = LOCKS[round.recipe]
        self.write = servers.store.register_script(lua.source("write"))

    def sell(self, order: Order) -> Sale:
        lock = self.lock()
        if not lock.acquire(wait_s=self.round.wait / 1000):
            return Sale(Outcome.BUSY, attempts=lock.counts.attempts)
        try:
            sale = self.critical_section(order)
        finally:
            still_mine = lock.release()
        # Too late to take the sale back: the sale stands, and `lock_lost` reports the loss.
        return replace(sale, attempts=lock.counts.attempts, lock_lost=not still_mine)

    def critical_section(self, order: Order) -> Sale:
        stock, earlier = self.sales.read(self.store, order)
        if earlier.answer:
            return earlier.answer

        self.clock.sleep(self.round.think / 1000)

        left = stock - order.quantity
        outcome, record = self.write(
            keys=[self.keys.stock, *self.sales.records(order)],
            args=[left, order.encode(), *self.sales.counted(order, earlier)],
        )
        return self.sales.answer(order, outcome, left, record)
