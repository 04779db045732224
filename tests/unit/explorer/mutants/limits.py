"""Ways to break a round's limit for a buyer that buys in two windows at once."""

from __future__ import annotations

from badluck.faults import Faults

from app.explorer.targets import Target
from tests.unit.explorer.mutants.mutant import Budget, Mutant
from tests.unit.explorer.mutants.watch import IN_SALES, READS, WATCHES

SELL, NOTE, WRITE = "store/lua/sell.lua", "store/lua/note.lua", "store/lua/write.lua"
ABOVE = "above the limit"


def limited(name: str, stock: int = 3, **faults: int) -> Budget:
    return Budget(Target(name, stock=stock, per_buyer=1), Faults(**faults))


ATOMIC, WATCH, LEASE = limited("atomic"), limited("watch"), limited("lock:lease")
DECR, FENCED, WATCHED = limited("decr"), limited("fenced"), limited("watched")

MUTANTS = [
    Mutant(
        "limit: counted in a trip of its own, after the sale",
        "modes/atomic.py",
        """\
            keys=[self.keys.stock, *self.sales.records(order)],
            args=[order.quantity, order.encode(), *self.sales.limit],
        )
""",
        """\
            keys=[self.keys.stock, *self.sales.records(order)[:3]],
            args=[order.quantity, order.encode()],
        )
        counted = self.script.registered_client.incrby(*self.sales.counter(order), 1)
        if int(counted) > self.sales.most:
            return Sale("LIMIT")
""",
        ATOMIC,
        ABOVE,
    ),
    Mutant(
        "limit: the script does not count",
        SELL,
        "redis.call('INCRBY', KEYS[5], ARGV[1])",
        "",
        ATOMIC,
        ABOVE,
    ),
    Mutant(
        "limit: one more than allowed",
        SELL,
        "> tonumber(ARGV[3])",
        "> tonumber(ARGV[3]) + 1",
        ATOMIC,
        ABOVE,
    ),
    Mutant(
        "limit: the quantity is not held against it",
        SELL,
        "bought + tonumber(ARGV[1]) >",
        "bought >",
        ATOMIC,
        ABOVE,
    ),
    Mutant(
        "limit: watch reads the counter before its WATCH",
        "modes/watch.py",
        WATCHES + READS,
        "        *_, bought = self.store.mget(self.sales.reads(order))\n"
        + WATCHES
        + "        stock, seen = pipe.mget(self.sales.reads(order)[:2])\n"
        "        stock, earlier = self.sales.judge(order, [stock, seen, bought])\n",
        WATCH,
        ABOVE,
    ),
    Mutant(
        "limit: watch does not write the counter",
        IN_SALES,
        " | dict(counted)",
        "",
        WATCH,
        ABOVE,
    ),
    Mutant(
        "limit: not compared under the lock",
        IN_SALES,
        "elif self.most and bought + order.quantity > self.most:",
        "elif False:",
        LEASE,
        ABOVE,
    ),
    Mutant(
        "limit: the lock's script does not write the counter",
        WRITE,
        "redis.call('SET', KEYS[5], ARGV[3])",
        "",
        LEASE,
        ABOVE,
    ),
    Mutant(
        "limit: decr looks at it before it takes, and not again",
        NOTE,
        "if bought + tonumber(ARGV[2]) > tonumber(ARGV[3]) then",
        "if false then",
        DECR,
        ABOVE,
    ),
    Mutant(
        "limit: decr keeps the units that it refuses",
        "modes/decr.py",
        'if record or outcome != b"SOLD":',
        'if record or outcome == b"ROUND_OVER":',
        DECR,
        "unit lost",
    ),
    Mutant(
        "limit: decr does not count",
        NOTE,
        "redis.call('INCRBY', KEYS[5], ARGV[2])",
        "",
        DECR,
        ABOVE,
    ),
    Mutant(
        "limit: fenced does not write the counter",
        "store/lua/write_fenced.lua",
        "redis.call('SET', KEYS[6], ARGV[4])",
        "",
        FENCED,
        ABOVE,
    ),
    Mutant(
        "limit: watched counts the wrong buyer",
        IN_SALES,
        "self.keys.bought(order.buyer)",
        "self.keys.bought(order.key)",
        WATCHED,
        ABOVE,
    ),
]
