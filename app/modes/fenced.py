"""fenced: lock, and let the store itself refuse whoever was overtaken.

How       lock (token) -> script: token, GET -> check -> script: token, SET/XADD -> unlock
Prevents  oversell, also when the work outlives the lease: an older token is refused
Breaks    who outlives the lease and is overtaken gets nothing: BUSY while stock remains
          (while everybody's work outlives it, each overtakes the one before)
Cost      four round trips, and one for every poll while another holds the lock
Sound     while no failover loses a confirmed write: each read and write checks the token
Taught    No tutorial has it. Where a number that rises with each holder is taught, it is commonly
          checked at the write only. A late reader then still bases its write on an old stock, and
          updates are lost: it has to be checked at the read, too.
"""

from __future__ import annotations

from dataclasses import replace

from app.domain import Clock, Order, Outcome, Round, Sale
from app.locks.fenced import Fenced as Recipe
from app.store import lua
from app.store.keys import Keys
from app.store.per_buyer import PerBuyer
from app.store.servers import Servers
from app.text import Text


class Fenced:
    name = "fenced"
    exhibit = False
    needs = "store"
    cost = (4, 4)
    outlived: str = Text("BUSY while stock remains")
    no_think = ""
    one_at_a_time = True
    increments = False
    tutorials: tuple[int, ...] = ()

    def __init__(self, servers: Servers, clock: Clock, round: Round) -> None:
        self.store = servers.store
        self.clock = clock
        self.round = round
        self.keys = Keys.of(round)
        self.per_buyer = PerBuyer(round)
        self.read = servers.store.register_script(lua.source("read_fenced"))
        self.write = servers.store.register_script(lua.source("write_fenced"))

    def sell(self, order: Order) -> Sale:
        lock = self.guard()
        if not lock.acquire(wait_s=self.round.wait / 1000):
            return Sale(Outcome.BUSY, attempts=lock.counts.attempts)
        try:
            sale = self.critical_section(order, lock.fence or 0)
        finally:
            still_mine = lock.release()
        # Refused is final. To try again would be to overtake those who have overtaken us: where
        # the work is too long for the lease, all would go on refusing each other and none sell.
        return replace(sale, attempts=lock.counts.attempts, lock_lost=not still_mine)

    def guard(self) -> Recipe:
        return Recipe(self.store, self.keys.lock, self.round.lease / 1000, clock=self.clock)

    def critical_section(self, order: Order, token: int) -> Sale:
        """BUSY: somebody entered after us, and the store has seen its token."""
        found = self.read(
            keys=[
                self.keys.fence,
                self.keys.stock,
                self.keys.key(order.key),
                *self.per_buyer.counter(order),
            ],
            args=[token],
        )
        if found is None:
            return Sale(Outcome.BUSY)
        stock, seen, *bought = found
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

        outcome = self.write(
            keys=[
                self.keys.fence,
                self.keys.stock,
                self.keys.sales,
                self.keys.order(order.id),
                self.keys.key(order.key),
                *self.per_buyer.counter(order),
            ],
            args=[token, left, order.encode(), *self.per_buyer.counted(order, bought).values()],
        )
        if outcome != b"SOLD":
            return Sale(Outcome(outcome.decode()))
        return Sale(Outcome.SOLD, left=left, order=order)
