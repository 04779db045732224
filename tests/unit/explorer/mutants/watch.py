"""Ways to break `watch`."""

from __future__ import annotations

from badluck.faults import Faults

from app.explorer.targets import Target
from tests.unit.explorer.mutants.mutant import Budget, Mutant

ALONE = Budget(Target("watch"))
AGAIN = Budget(Target("watch", stock=2, resend=True), Faults(lost=1))
TWO_UNITS = Budget(Target("watch", stock=2))
IN = "modes/watch.py"
WATCHES = """\
            pipe.watch(self.keys.stock, self.keys.key(order.key), *self.per_buyer.counter(order))
"""
READS = """\
            stock, seen, *bought = {}.mget(
                self.keys.stock, self.keys.key(order.key), *self.per_buyer.counter(order)
            )
"""

MUTANTS = [
    Mutant(
        "watch: no WATCH at all",
        IN,
        WATCHES + "            stock, seen, *bought = pipe.mget(",
        "            stock, seen, *bought = self.store.mget(",
        ALONE,
        "oversell",
    ),
    Mutant(
        "watch: GET before WATCH",
        IN,
        WATCHES + READS.format("pipe"),
        READS.format("self.store") + WATCHES,
        ALONE,
        "oversell",
    ),
    Mutant(
        "watch: WATCH on the wrong key",
        IN,
        "pipe.watch(self.keys.stock, ",
        "pipe.watch(self.keys.sales + ':old', ",
        ALONE,
        "oversell",
    ),
    Mutant(
        "watch: WATCH on the order's key only",
        IN,
        "pipe.watch(self.keys.stock, ",
        "pipe.watch(",
        ALONE,
        "oversell",
    ),
    Mutant(
        "watch: UNWATCH before MULTI",
        IN,
        "pipe.multi()",
        "pipe.unwatch(), pipe.multi()",
        ALONE,
        "oversell",
    ),
    Mutant(
        "watch: no MULTI, each write goes out by itself",
        IN,
        "            pipe.multi()\n",
        "",
        ALONE,
        "oversell",
    ),
    Mutant(
        "watch: the stock is written outside of MULTI",
        IN,
        "            pipe.multi()\n            pipe.set(",
        "            pipe.multi()\n            self.store.set(",
        ALONE,
        "unit lost",
    ),
    Mutant(
        "watch: the sale is noted outside of MULTI",
        IN,
        "            pipe.xadd(",
        "            self.store.xadd(",
        ALONE,
        "oversell",
    ),
    Mutant(
        "watch: EXEC's nil is ignored",
        IN,
        "return Sale(Outcome.BUSY, left=int(stock))",
        "pass",
        ALONE,
        "order lost",
    ),
    Mutant(
        "watch: EXEC's nil is taken for sold out",
        IN,
        "return Sale(Outcome.BUSY, left=int(stock))",
        "return Sale(Outcome.SOLD_OUT, left=int(stock))",
        TWO_UNITS,
        "undersell",
    ),
    Mutant(
        "watch: tries again after it has sold, as a new purchase",
        IN,
        "if sale.outcome is not Outcome.BUSY:",
        "order = replace(order, key=order.key + '!')\n"
        "            if sale.outcome is Outcome.SOLD_OUT:",
        TWO_UNITS,
        "sold twice",
    ),
    Mutant("watch: the stock is not written", IN, "pipe.set(", "(", ALONE, "oversell"),
    Mutant("watch: the sale is not noted", IN, "pipe.xadd(", "(", ALONE, "order lost"),
    Mutant(
        "watch: sells one more than there is",
        IN,
        "if left < 0:",
        "if left < -1:",
        ALONE,
        "oversell",
    ),
    Mutant(
        "watch: keeps the last one",
        IN,
        "if left < 0:",
        "if left <= 0:",
        ALONE,
        "undersell",
    ),
    Mutant(
        "watch: the order's key is not looked at",
        IN,
        "if seen:",
        "if False:",
        AGAIN,
        "sold twice",
    ),
    Mutant(
        "watch: the order's key is not written",
        IN,
        "pipe.mset(self.keys.copies(order) | ",
        "pipe.mset({self.keys.order(order.id): order.encode()} | ",
        AGAIN,
        "sold twice",
    ),
]
