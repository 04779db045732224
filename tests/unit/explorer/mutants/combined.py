"""Ways to break `sell_all`: several sold to in one go."""

from __future__ import annotations

from badluck.faults import Faults

from app.explorer.combined import TWICE, Combined
from tests.unit.explorer.mutants.mutant import Budget, Mutant

SCARCE, PLENTY = 2, 4  # units: one less than what both may get, and one more


def budget(name: str, stock: int = SCARCE, **faults: int) -> Budget:
    return Budget(Combined(f"{name}:combined", stock), Faults(**faults))


WATCH, FUSED = budget("watch"), budget("fused")
BATCH = "store/batch.py"

MUTANTS = [
    Mutant(
        "watch: no WATCH for several",
        "modes/watch.py",
        "pipe.watch(*batch.reads)\n            batch.decide(pipe.mget(batch.reads))",
        "batch.decide(self.store.mget(batch.reads))",
        WATCH,
        "oversell",
        back=True,
    ),
    Mutant(
        "watch: EXEC's nil is ignored for several",
        "modes/watch.py",
        "                return False\n            return True\n",
        "                return True\n            return True\n",
        WATCH,
        "order lost",
        back=True,
    ),
    Mutant(
        "watch: one of several is not noted",
        "modes/watch.py",
        "for order in batch.sold:",
        "for order in batch.sold[:1]:",
        WATCH,
        "order lost",
        back=True,
    ),
    Mutant(
        "fused: a refused write is told as a sale to several",
        "modes/fused.py",
        "batch.answers(written=False, attempts=attempt, lock_lost=True)",
        "batch.answers(attempts=attempt)",
        budget("fused", pause=2),
        "order lost",
        back=True,
    ),
    Mutant(
        "fused: who sells to none of several keeps the lock",
        "modes/fused.py",
        "if not batch.sold:\n                lock.release()\n",
        "if not batch.sold:\n",
        FUSED,
        "lock left behind",
        back=True,
    ),
    Mutant(
        "several: all of them are sold the same units",
        BATCH,
        "left = self.left - order.quantity",
        "left = int(self.known[self.keys.stock]) - order.quantity",
        FUSED,
        "oversell",
    ),
    Mutant(
        "several: the keys are not looked at",
        BATCH,
        "if seen := self.known[self.keys.key(order.key)]:",
        "if seen := None:",
        budget("watch", PLENTY),
        TWICE.name,
    ),
    Mutant(
        "several: the key is not noted",
        BATCH,
        "noted = self.keys.copies(order) |",
        "noted = {self.keys.order(order.id): order.encode()} |",
        budget("watch", PLENTY),
        TWICE.name,
    ),
    Mutant(
        "several: nobody is told that nothing was written",
        BATCH,
        "self.sales if written else self.unwritten",
        "self.sales",
        budget("fused", pause=2),
        "order lost",
    ),
]
