"""Ways to break the code around the scripts of the queue: mode `fused`, and `lock:queue`."""

from __future__ import annotations

from badluck.faults import Faults

from app.explorer.targets import Target
from tests.unit.explorer.mutants.mutant import Budget, Mutant

FUSED = Budget(Target("fused"))  # the write travels with the release
PAUSE = FUSED._replace(faults=Faults(pause=1))
WORK = Budget(Target("lock:queue"))
LONG_WORK = Budget(Target("lock:queue", think=15_000))  # longer than its lease

IN_MODE, IN_RECIPE = "modes/fused.py", "locks/queue.py"
IN_QUEUE, IN_WAITER, IN_FUSED = "fairlock/queue.py", "fairlock/waiter.py", "fairlock/fused.py"

MUTANTS = [
    Mutant(
        "queue: a called buyer does not accept the lock",
        IN_WAITER,
        'if call == "taken" and now < (self.asked_at + ends) / 2:',
        "if call:",
        Budget(Target("lock:queue", stock=2, think=15_000), buyers=3),
        "oversell",
    ),
    Mutant(
        "queue: joins the line before it listens",
        IN_WAITER,
        "                self.queue.retry(lambda _: self.mine.subscribe())\n"
        "                grant = self.enqueue()",
        "                grant = self.enqueue()\n"
        "                self.queue.retry(lambda _: self.mine.subscribe())",
        FUSED,
        "stalled",
    ),
    Mutant(
        "queue: the number of the place is not checked",
        IN_WAITER,
        "return message if message and message[0] == self.number else None",
        "return message",
        FUSED._replace(faults=Faults(pause=2)),
        "oversell",
    ),
    Mutant(
        "queue: does not renew",
        IN_RECIPE,
        "self.stop_renewing = self.clock.every(self.lease_s / 3, self.renew)",
        "self.stop_renewing = lambda: None",
        LONG_WORK,
        "oversell",
    ),
    Mutant(
        "queue: never released",
        IN_RECIPE,
        "return held is not None and self.contender.release(held)",
        "return True",
        WORK,
        "stalled",
    ),
    Mutant(
        "queue: a write is sent again",
        IN_QUEUE,
        "if commands:",
        "if not args:",
        FUSED._replace(faults=Faults(pause=1, lost=1)),
        "order lost",
    ),
    Mutant(
        "fused: a refused buyer believes that it has sold",
        IN_MODE,
        "            if lock.release(\n",
        "            if None is not lock.release(\n",
        PAUSE,
        "order lost",
    ),
    Mutant(
        "fused: not released when it is sold out",
        IN_MODE,
        "            if earlier.answer:\n                lock.release()\n",
        "            if earlier.answer:\n",
        FUSED._replace(buyers=3),
        "stalled",
    ),
    Mutant(
        "fused: reads the stock before it joins the line",
        IN_FUSED,
        "        grant = self.queue.acquire(self.token, True, timeout_s, reads)\n"
        "        return None if grant is None else grant.values",
        "        early = self.queue.client.mget(reads)\n"
        "        grant = self.queue.acquire(self.token, True, timeout_s, reads)\n"
        "        return None if grant is None else early",
        FUSED,
        "oversell",
    ),
]
