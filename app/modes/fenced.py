"""fenced: lock, and let the store itself refuse a holder that was overtaken.

How       lock (token) → script: token, GET → check → script: token, SET/XADD → unlock
Prevents  oversell, also when the work outlives the lease: an older token is refused
Breaks    a buyer that is overtaken after its lease gets nothing: BUSY while stock remains
          (while the work of every buyer outlives it, each overtakes the one before)
Cost      four round trips, and one for every poll while another holds the lock
Sound     while no failover loses a confirmed write: each read and write checks the token
Taught    No tutorial has it. Where a number that rises with each holder is taught, it is commonly
          checked at the write only. Then a late reader still writes what it computed from an old
          stock, and updates are lost. So the read must check it too.
"""

from __future__ import annotations

from dataclasses import replace

from app.domain import Clock, Order, Outcome, Round, Sale
from app.locks.fenced import Fenced as Recipe
from app.modes.mode import LockingMode
from app.store import lua
from app.store.servers import Servers
from app.text import Text


class Fenced(LockingMode):
    name = "fenced"
    cost = (4, 4)
    outlived = Text("BUSY while stock remains")
    one_at_a_time = True
    recipe = Recipe

    def __init__(self, servers: Servers, clock: Clock, round: Round) -> None:
        super().__init__(servers, clock, round)
        self.read = servers.store.register_script(lua.source("read_fenced"))
        self.write = servers.store.register_script(lua.source("write_fenced"))

    def sell(self, order: Order) -> Sale:
        lock = Recipe(self.store, self.keys.lock, self.lease_s, clock=self.clock)
        if not lock.acquire(wait_s=self.round.wait / 1000):
            return Sale(Outcome.BUSY, attempts=lock.counts.attempts)
        try:
            sale = self.critical_section(order, lock.fence or 0)
        finally:
            still_mine = lock.release()
        # A refusal is final. A retry would overtake the buyer that has overtaken us: if the work
        # outlives the lease, all buyers would overtake each other again and again, and none sell.
        return replace(sale, attempts=lock.counts.attempts, lock_lost=not still_mine)

    def critical_section(self, order: Order, token: int) -> Sale:
        """BUSY: another buyer entered after us, and the store has seen its newer token."""
        values = self.read(keys=[self.keys.fence, *self.sales.reads(order)], args=[token])
        if values is None:
            return Sale(Outcome.BUSY)
        stock, earlier = self.sales.judge(order, values)
        if earlier.answer:
            return earlier.answer

        self.clock.sleep(self.round.think / 1000)

        left = stock - order.quantity
        outcome = self.write(
            keys=[self.keys.fence, self.keys.stock, *self.sales.records(order)],
            args=[token, left, order.encode(), *self.sales.counted(order, earlier)],
        )
        return self.sales.answer(order, outcome, left)
