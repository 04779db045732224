"""atomic: let the server read, check and write in one script.

How       EVALSHA: the script of store/lua/sell.lua, which nothing can interrupt
Prevents  oversell
Breaks    nothing here; but think time is impossible: a script cannot wait for anybody
Cost      one round trip
Sound     while no failover loses a confirmed write
Taught    No tutorial sells so, though the second one releases its lock by a script: what a script
          can check and delete in one step it can also check and sell, and then no lock is needed.
"""

from __future__ import annotations

from app.domain import Clock, Order, Outcome, Round, Sale
from app.store import lua
from app.store.keys import Keys
from app.store.per_buyer import PerBuyer
from app.store.servers import Servers
from app.text import Text


class Atomic:
    name = "atomic"
    exhibit = False
    needs = "store"
    cost = (1, 1)
    outlived = ""
    no_think: str = Text("Think time does nothing here: a script has no gap to think in.")
    one_at_a_time = False
    increments = True
    tutorials: tuple[int, ...] = ()

    def __init__(self, servers: Servers, clock: Clock, round: Round) -> None:
        self.keys = Keys.of(round)
        self.per_buyer = PerBuyer(round)
        # EVALSHA; when the server has forgotten the script (it restarted), redis-py loads it and
        # asks again: safe, because a script that was not found has not run.
        self.script = servers.store.register_script(lua.source("sell"))

    def sell(self, order: Order) -> Sale:
        outcome, left, seen, *bought = self.script(
            keys=[
                self.keys.stock,
                self.keys.sales,
                self.keys.order(order.id),
                self.keys.key(order.key),
                *self.per_buyer.counter(order),
            ],
            args=[order.quantity, order.encode(), *self.per_buyer.limit],
        )
        if seen:
            return Sale(Outcome.SOLD, order=Order.decode(seen))
        if outcome == b"LIMIT":
            return Sale(Outcome.LIMIT, left=left, bought=bought[0])
        sold = outcome == b"SOLD"
        return Sale(Outcome(outcome.decode()), left=left, order=order if sold else None)
