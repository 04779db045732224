"""Ways to break `decr`."""

from __future__ import annotations

from app.explorer.targets import Target
from tests.unit.explorer.mutants.mutant import Budget, Mutant

ALONE = Budget(Target("decr"))
PAIRS = Budget(Target("decr", stock=3, quantity=2))
IN = "modes/decr.py"

MUTANTS = [
    Mutant(
        "decr: units are not given back",
        IN,
        "if left < 0:\n            self.give_back(order.quantity)",
        "if left < 0:\n            pass",
        ALONE,
        "negative stock",
    ),
    Mutant(
        "decr: units are given back two times",
        IN,
        "pipe.incrby(self.keys.stock, quantity)",
        "pipe.incrby(self.keys.stock, 2 * quantity)",
        ALONE,
        "undersell",
    ),
    Mutant(
        "decr: what DECRBY answers is not looked at",
        IN,
        "if left < 0:",
        "if False:",
        ALONE,
        "oversell",
    ),
    Mutant(
        "decr: the last one is given back", IN, "if left < 0:", "if left <= 0:", ALONE, "undersell"
    ),
    Mutant(
        "decr: SET of what was read, instead of DECRBY",
        IN,
        "pipe.decrby(self.keys.stock, order.quantity)",
        "pipe.set(self.keys.stock, stock - order.quantity)",
        ALONE,
        "oversell",
    ),
    Mutant(
        "decr: takes one unit, however many are bought",
        IN,
        "pipe.decrby(self.keys.stock, order.quantity)",
        "pipe.decrby(self.keys.stock, 1)",
        PAIRS,
        "oversell",
    ),
    Mutant(
        "decr: gives units back after it has sold them",
        IN,
        "        return self.sales.answer(order, outcome, left, record, bought)",
        "        self.give_back(order.quantity)\n"
        "        return self.sales.answer(order, outcome, left, record, bought)",
        ALONE,
        "oversell",
    ),
]
