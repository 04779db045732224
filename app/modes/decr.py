"""decr: take the units first, and give them back when there were too few.

How       lock own key → MGET → check → DECRBY → below 0: INCRBY; else script: XADD → unlock
Prevents  oversell, and waiting for other buyers: a DECRBY needs no lock on the stock
Breaks    a crash or a lost reply after DECRBY: units neither left nor sold, undersell
          Until its INCRBY a refused buyer holds units that it will not get, and the stock may be
          below zero: other buyers get SOLD_OUT although units remain.
Cost      five round trips: the DECRBY, and four to keep the idempotency key's promise
Sound     as to oversell and the key, while no failover loses a confirmed write
Taught    None of the five tutorials has it; elsewhere it is the usual answer. But the crash between
          taking a unit and giving it back is left out there.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from app.domain import Clock, LockBusy, LockLost, Order, Outcome, Round, Sale
from app.locks.lease import Lease
from app.modes.mode import StoreMode
from app.store import lua
from app.store.servers import Servers
from app.text import Text


class Decr(StoreMode):
    name = "decr"
    cost = (5, 8)
    outlived = Text("one key to buy twice")
    increments = True

    def __init__(self, servers: Servers, clock: Clock, round: Round) -> None:
        super().__init__(servers, clock, round)
        self.note = servers.store.register_script(lua.source("note"))

    # The stock needs no lock, but the key does: taking units and noting the sale are two steps. A
    # request with the same key in between would get a wrong answer. (The lock may expire. So the
    # script that notes the sale checks that the key buys only once.)
    def sell(self, order: Order) -> Sale:
        key = self.keys.claim(order.key)
        lock = Lease(self.store, key, self.lease_s, wait_s=self.round.wait / 1000, clock=self.clock)
        sale = Sale(Outcome.BUSY)
        with suppress(LockBusy, LockLost), lock:
            sale = self.take(order)
        return replace(sale, attempts=lock.counts.attempts, lock_lost=lock.lost)

    def take(self, order: Order) -> Sale:
        stock, earlier = self.sales.read(self.store, order, self.keys.ended)  # noqa: RUF059  the player shows it
        if earlier.answer:
            return earlier.answer

        self.clock.sleep(self.round.think / 1000)

        with self.store.pipeline() as pipe:
            pipe.decrby(self.keys.stock, order.quantity)  # this decides, not the stock read above
            pipe.exists(self.keys.ended)  # has the round's end moved the stock away?
            left, ended = pipe.execute()
        if ended:
            self.store.delete(self.keys.stock)  # DECRBY has created this key
            return Sale(Outcome.ROUND_OVER)
        if left < 0:
            self.give_back(order.quantity)
            return Sale(Outcome.SOLD_OUT, left=max(0, left + order.quantity))
        outcome, record, *bought = self.note(
            keys=self.sales.records(order, self.keys.ended),
            args=[order.encode(), order.quantity, *self.sales.limit],
        )
        if record or outcome != b"SOLD":  # key used, round over, or limit reached
            self.give_back(order.quantity)
            left += order.quantity
        return self.sales.answer(order, outcome, left, record, bought)

    def give_back(self, quantity: int) -> None:
        with self.store.pipeline() as pipe:
            pipe.incrby(self.keys.stock, quantity)
            pipe.exists(self.keys.ended)
            if pipe.execute()[1]:  # the round has ended: its stock is under `ended`
                pipe.delete(self.keys.stock)
                pipe.incrby(self.keys.ended, quantity)
                pipe.execute()
