"""Ways to break `watch`."""

from __future__ import annotations

from badluck.faults import Faults

from app.explorer.targets import Target
from tests.unit.explorer.mutants.mutant import Budget, Mutant

ALONE = Budget(Target("watch"))
AGAIN = Budget(Target("watch", stock=2, resend=True), Faults(lost=1))
TWO_UNITS = Budget(Target("watch", stock=2))
IN, IN_SALES = "modes/watch.py", "store/round_sales.py"
WATCHES = "        pipe.watch(*self.sales.reads(order))\n"
READS = "        stock, earlier = self.sales.read(pipe, order)\n"
ALONE_READS = READS.replace("pipe", "self.store")

MUTANTS = [
    Mutant(
        "watch: no WATCH at all",
        IN,
        WATCHES + READS,
        ALONE_READS,
        ALONE,
        "oversell",
    ),
    Mutant(
        "watch: GET before WATCH",
        IN,
        WATCHES + READS,
        ALONE_READS + WATCHES,
        ALONE,
        "oversell",
    ),
    Mutant(
        "watch: WATCH on the wrong key",
        IN,
        "pipe.watch(*self.sales.reads(order))",
        "pipe.watch(self.keys.sales + ':old', *self.sales.reads(order)[1:])",
        ALONE,
        "oversell",
    ),
    Mutant(
        "watch: WATCH on the order's key only",
        IN,
        "pipe.watch(*self.sales.reads(order))",
        "pipe.watch(*self.sales.reads(order)[1:])",
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
        "        pipe.multi()\n",
        "",
        ALONE,
        "oversell",
    ),
    Mutant(
        "watch: the stock is written outside of MULTI",
        IN,
        "        pipe.multi()\n        pipe.set(",
        "        pipe.multi()\n        self.store.set(",
        ALONE,
        "unit lost",
    ),
    Mutant(
        "watch: the sale is noted outside of MULTI",
        IN,
        "self.sales.record(pipe, ",
        "self.sales.record(self.store, ",
        ALONE,
        "oversell",
    ),
    Mutant(
        "watch: EXEC's nil is ignored",
        IN,
        "return Sale(Outcome.BUSY, left=stock)",
        "pass",
        ALONE,
        "order lost",
    ),
    Mutant(
        "watch: EXEC's nil is taken for sold out",
        IN,
        "return Sale(Outcome.BUSY, left=stock)",
        "return Sale(Outcome.SOLD_OUT, left=stock)",
        TWO_UNITS,
        "undersell",
    ),
    Mutant(
        "watch: tries again after it has sold, as a new purchase",
        "modes/mode.py",
        "if sale.outcome is not Outcome.BUSY:",
        "order = replace(order, key=order.key + '!')\n        if sale.outcome is Outcome.SOLD_OUT:",
        TWO_UNITS,
        "sold twice",
    ),
    Mutant("watch: the stock is not written", IN, "pipe.set(", "(", ALONE, "oversell"),
    Mutant("watch: the sale is not noted", IN_SALES, "client.xadd(", "(", ALONE, "order lost"),
    Mutant(
        "watch: sells one more than there is",
        IN_SALES,
        "elif left < order.quantity:",
        "elif left + 1 < order.quantity:",
        ALONE,
        "oversell",
    ),
    Mutant(
        "watch: keeps the last one",
        IN_SALES,
        "elif left < order.quantity:",
        "elif left <= order.quantity:",
        ALONE,
        "undersell",
    ),
    Mutant(
        "watch: the order's key is not looked at",
        IN_SALES,
        "        left, answer = int(stock or 0), None\n        if record:",
        "        left, answer = int(stock or 0), None\n        if False:",
        AGAIN,
        "sold twice",
    ),
    Mutant(
        "watch: the order's key is not written",
        IN_SALES,
        "self.keys.copies(order) | ",
        "{self.keys.order(order.id): order.encode()} | ",
        AGAIN,
        "sold twice",
    ),
]
