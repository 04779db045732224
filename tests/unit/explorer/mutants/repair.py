"""Ways to break the mending of a store: what is written, what is compared, when the mark goes."""

from __future__ import annotations

from app.explorer.repairing import Repairing
from tests.unit.explorer.mutants.mutant import Budget, Mutant

TWO = Budget(Repairing())
ACCEPTED = Budget(Repairing(accepts=True), buyers=3, most=60_000)
FULFIL = Budget(Repairing("repair:fulfil"))
MEND = "store/lua/mend.lua"

MUTANTS = [
    Mutant(
        "mend.lua: does not ask whether it is still lacking",
        MEND,
        "redis.call('GET', KEYS[1]) ~= ARGV[1] or now ~= ARGV[2]",
        "now ~= ARGV[2]",
        ACCEPTED,
        "written unasked",
    ),
    Mutant(
        "mend.lua: writes, whatever has happened since it was looked at",
        MEND,
        "redis.call('GET', KEYS[1]) ~= ARGV[1] or now ~= ARGV[2]",
        "redis.call('GET', KEYS[1]) ~= ARGV[1]",
        TWO,
        "brought back twice",
    ),
    Mutant(
        "mend.lua: leaves what is left as it is",
        MEND,
        "  redis.call('SET', KEYS[4], ARGV[5])\n",
        "",
        TWO,
        "too much left",
    ),
    Mutant(
        "mend.lua: brings no sale back",
        MEND,
        "    redis.call('XADD', KEYS[5], '*', 'sale', ARGV[at])\n",
        "",
        TWO,
        "sale not back",
    ),
    Mutant(
        "mend.lua: brings a sale back, and not under its key",
        MEND,
        "    redis.call('SET', KEYS[key + 1], ARGV[at], 'NX')\n",
        "",
        TWO,
        "key forgotten",
    ),
    Mutant(
        "mend: lifts the mark first",
        "service/repair.py",
        "        done = [self._write(plan.mark, each)",
        "        self.consistency.sell_again(plan.lack, plan.mark)\n"
        "        done = [self._write(plan.mark, each)",
        TWO,
        "lifted too early",
    ),
    Mutant(
        "mend: does not read again after another write",
        "service/repair.py",
        "            wanted = self._figures(round.item, round.number, round, witnessed)"
        " or wanted\n",
        "",
        FULFIL,
        "error",
    ),
    Mutant(
        "figures: leaves what the store says",
        "service/repair.py",
        "left = left if remains.left is None else min(left, remains.left + returned)",
        "left = left if remains.left is None else remains.left",
        TWO,
        "too much left",
    ),
    Mutant(
        "consistency: the store does not learn which keys have bought",
        "service/consistency.py",
        "                sales.remember(self.store, bought)\n",
        "                pass\n",
        TWO,
        "key forgotten",
    ),
    Mutant(
        "lacks: an old look marks a mended store again",
        "store/loss_marks.py",
        "pipe.watch(keys.accepted(lack.item))",
        "pipe.watch(keys.identity(lack.item))",
        ACCEPTED,
        "sale not back",
    ),
    Mutant(
        "bury.lua: what is buried stays in the stream",
        "store/lua/bury.lua",
        "redis.call('XDEL', KEYS[1], ARGV[1])\n",
        "",
        FULFIL,
        "brought back twice",
    ),
]
