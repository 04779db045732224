"""fused: a fair lock. One script locks and reads the stock, another one sells and releases.

How       script: take the lock, MGET → check → script: still owner? SET/XADD, call the next one
Prevents  oversell, also when the work outlives the lease: the write is refused; starvation, polling
Breaks    work that always outlives the lease never sells: BUSY while stock remains
          (and a lost reply to the write: whether it sold is unknown until the same key asks again)
Cost      two round trips, also after a wait; a first wait and a long wait cost more
Sound     while no failover loses a confirmed write: the step that writes checks the lock's owner
Taught    No tutorial has it. The fifth one wants a lost lock to abort the sale. That costs no round
          trip of its own if the same script sells and releases.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from fairlock import FusedLock

from app.domain import Clock, Order, Outcome, Round, Sale
from app.locks.queue import Queue
from app.modes.mode import LockingMode
from app.store.servers import Servers
from app.text import Text

MOMENT_MS = (
    100  # between the two scripts, added to the think time: a buyer that takes longer is frozen
)


class Fused(LockingMode):
    name = "fused"
    cost = (2, 2)
    outlived = Text("BUSY while stock remains")
    one_at_a_time = True
    recipe = Queue

    def __init__(self, servers: Servers, clock: Clock, round: Round) -> None:
        super().__init__(servers, clock, round)
        self.lease_s = min(round.lease, MOMENT_MS + round.think) / 1000

    def sell(self, order: Order) -> Sale:
        deadline = self.clock.now() + self.round.wait / 1000
        for attempt in range(1, self.round.attempts + 1):
            lock = FusedLock(self.store, self.keys.lock, self.lease_s, clock=self.clock)
            reads = self.sales.reads(order)
            values = lock.acquire(reads, timeout_s=deadline - self.clock.now())
            if values is None:
                return Sale(Outcome.BUSY, attempts=attempt)
            stock, earlier = self.sales.judge(order, values)
            if earlier.answer:
                lock.release()
                return replace(earlier.answer, attempts=attempt)

            self.clock.sleep(self.round.think / 1000)

            left = stock - order.quantity
            # XX: the round's end moves the stock away. If refused, nothing is sold: queue again.
            if lock.release(
                ["SET", self.keys.stock, left, "XX"],
                ["XADD", self.keys.sales, "*", "sale", order.encode()],
                ["MSET", *chain(*self.sales.copies(order, earlier).items())],
            ):
                return Sale(Outcome.SOLD, left=left, order=order, attempts=attempt)
        return Sale(Outcome.BUSY, attempts=attempt, lock_lost=True)
