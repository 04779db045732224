"""Ways to break `atomic`, and its script."""

from __future__ import annotations

from badluck.faults import Faults

from app.explorer.targets import Target
from tests.unit.explorer.mutants.mutant import Budget, Mutant

ALONE = Budget(Target("atomic"))
AGAIN = Budget(Target("atomic", stock=2, resend=True), Faults(lost=1))
PAIRS = Budget(Target("atomic", stock=3, quantity=2))
IN = "store/lua/sell.lua"

MUTANTS = [
    Mutant(
        "atomic: the stock is not written",
        IN,
        "redis.call('SET', KEYS[1], left)\n",
        "",
        ALONE,
        "oversell",
    ),
    Mutant(
        "atomic: the sale is not noted",
        IN,
        "redis.call('XADD', KEYS[2], '*', 'sale', ARGV[2])\n",
        "",
        ALONE,
        "order lost",
    ),
    Mutant(
        "atomic: sells one more than there is",
        IN,
        "left < 0",
        "left < -1",
        ALONE,
        "oversell",
    ),
    Mutant("atomic: keeps the last one", IN, "left < 0", "left <= 0", ALONE, "undersell"),
    Mutant(
        "atomic: asks whether any is left, not whether enough are",
        IN,
        "left < 0",
        "tonumber(stock) <= 0",
        PAIRS,
        "oversell",
    ),
    Mutant(
        "atomic: takes one unit, however many are bought",
        IN,
        "tonumber(stock) - tonumber(ARGV[1])",
        "tonumber(stock) - 1",
        PAIRS,
        "oversell",
    ),
    Mutant(
        "atomic: the order's key is not looked at",
        IN,
        "if seen then",
        "if false then",
        AGAIN,
        "sold twice",
    ),
    Mutant(
        "atomic: the order's key is not written",
        IN,
        ", KEYS[4], ARGV[2])",
        ")",
        AGAIN,
        "sold twice",
    ),
    Mutant(
        "atomic: a key that has bought gets SOLD_OUT",
        IN,
        "return {'SOLD', false, seen}",
        "return {'SOLD_OUT', 0, false}",
        AGAIN,
        "phantom order",
    ),
    Mutant(
        "atomic: two trips, a GET before the script",
        "modes/atomic.py",
        "        outcome, left, record, *bought = self.script(",
        "        stock = self.script.registered_client.get(self.keys.stock)\n"
        "        self.script.registered_client.set(self.keys.stock, stock)\n"
        "        outcome, left, record, *bought = self.script(",
        ALONE,
        "oversell",
    ),
]
