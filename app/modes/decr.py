"""decr: take the units first, and give them back when there were too few.

How       lock own key -> MGET -> check -> DECRBY -> below 0: INCRBY; else script: XADD -> unlock
Prevents  oversell, and waiting for other buyers: a DECRBY is never in another's way
Breaks    a crash or a lost reply after DECRBY: units that nobody has, undersell
          Until its INCRBY a buyer holds units that he will not get, and the stock may be below
          zero: others are told SOLD_OUT, and units remain after all.
Cost      five round trips: the DECRBY, and four to keep the idempotency key's promise
Sound     as to oversell and the key, while no failover loses a confirmed write
Taught    No tutorial of the five has it; elsewhere it is the usual answer. What is left out there
          is the crash between taking a unit and giving it back.
"""

from __future__ import annotations

from dataclasses import replace

from app.domain import Clock, Order, Outcome, Round, Sale
from app.locks.lease import Lease
from app.store import lua
from app.store.keys import Keys
from app.store.per_buyer import PerBuyer
from app.store.servers import Servers
from app.text import Text


class Decr:
    name = "decr"
    exhibit = False
    needs = "store"
    cost = (5, 8)
    outlived: str = Text("one key to buy twice")
    no_think = ""
    one_at_a_time = False
    increments = True
    tutorials: tuple[int, ...] = ()

    def __init__(self, servers: Servers, clock: Clock, round: Round) -> None:
        self.store = servers.store
        self.clock = clock
        self.round = round
        self.keys = Keys.of(round)
        self.per_buyer = PerBuyer(round)
        self.note = servers.store.register_script(lua.source("note"))

    def sell(self, order: Order) -> Sale:
        # The stock needs no lock, the key does: taking units and noting the sale are two steps,
        # and who comes with the same key in between could only be told wrong. (That it buys once
        # is not the lock's work, which may be outlived: the noting asks.)
        key = self.keys.claim(order.key)
        lock = Lease(self.store, key, self.round.lease / 1000, clock=self.clock)
        if not lock.acquire(wait_s=self.round.wait / 1000):
            return Sale(Outcome.BUSY, attempts=lock.counts.attempts)
        try:
            sale = self.take(order)
        finally:
            still_mine = lock.release()
        return replace(sale, attempts=lock.counts.attempts, lock_lost=not still_mine)

    def take(self, order: Order) -> Sale:
        stock, seen, ended, *bought = self.store.mget(
            self.keys.stock,
            self.keys.key(order.key),
            self.keys.ended,
            *self.per_buyer.counter(order),
        )
        if seen:
            return Sale(Outcome.SOLD, order=Order.decode(seen))
        if stock is None or ended is not None:
            return Sale(Outcome.ROUND_OVER)
        if int(stock) < order.quantity:
            return Sale(Outcome.SOLD_OUT, left=max(0, int(stock)))
        if refusal := self.per_buyer.refusal(order, bought, int(stock)):
            return refusal

        self.clock.sleep(self.round.think / 1000)

        # DECRBY decides, whatever was read. It would make a new key where the round's end has moved
        # the stock away: look at `ended` in the same step.
        with self.store.pipeline() as pipe:
            pipe.decrby(self.keys.stock, order.quantity)
            pipe.exists(self.keys.ended)
            left, ended = pipe.execute()
        if ended:
            self.store.delete(self.keys.stock)
            return Sale(Outcome.ROUND_OVER)
        if left < 0:
            self.compensate(order.quantity)
            return Sale(Outcome.SOLD_OUT, left=max(0, left + order.quantity))

        outcome, seen, *bought = self.note(
            keys=[
                self.keys.sales,
                self.keys.order(order.id),
                self.keys.key(order.key),
                self.keys.ended,
                *self.per_buyer.counter(order),
            ],
            args=[order.encode(), order.quantity, *self.per_buyer.limit],
        )
        # The work has outlived its key's lock, or its round, or the buyer has bought meanwhile.
        if seen or outcome != b"SOLD":
            self.compensate(order.quantity)
        if seen:
            return Sale(Outcome.SOLD, order=Order.decode(seen))
        if outcome == b"ROUND_OVER":
            return Sale(Outcome.ROUND_OVER)
        if outcome == b"LIMIT":
            return Sale(Outcome.LIMIT, left=left + order.quantity, bought=bought[0])
        return Sale(Outcome.SOLD, left=left, order=order)

    def compensate(self, quantity: int) -> None:
        """Give the units back, to where the stock is now."""
        with self.store.pipeline() as pipe:
            pipe.incrby(self.keys.stock, quantity)
            pipe.exists(self.keys.ended)
            _, ended = pipe.execute()
            if ended:
                pipe.delete(self.keys.stock)
                pipe.incrby(self.keys.ended, quantity)
                pipe.execute()
