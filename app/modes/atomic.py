"""atomic: let the server read, check and write in one script.

How       EVALSHA: the script of store/lua/sell.lua, which nothing can interrupt
Prevents  oversell
Breaks    nothing here; but think time is impossible: a script cannot wait for a buyer
Cost      one round trip
Sound     while no failover loses a confirmed write
Taught    No tutorial sells like this, though the second one releases its lock by a script. A script
          that can check and delete in one step can also check and sell. Then no lock is needed.
"""

from __future__ import annotations

from app.domain import Clock, Order, Round, Sale
from app.modes.mode import StoreMode
from app.store import lua
from app.store.servers import Servers
from app.text import Text


class Atomic(StoreMode):
    name = "atomic"
    cost = (1, 1)
    no_think = Text("Think time does nothing here: a script has no gap to think in.")
    increments = True

    def __init__(self, servers: Servers, clock: Clock, round: Round) -> None:
        super().__init__(servers, clock, round)
        # Sends EVALSHA. If the server does not know the script (it restarted), redis-py loads the
        # script and sends EVALSHA again. That is safe: an unknown script has not run.
        self.script = servers.store.register_script(lua.source("sell"))

    def sell(self, order: Order) -> Sale:
        outcome, left, record, *bought = self.script(
            keys=[self.keys.stock, *self.sales.records(order)],
            args=[order.quantity, order.encode(), *self.sales.limit],
        )
        return self.sales.answer(order, outcome, left, record, bought)
