"""Ways to break `fenced`, whose store refuses an overtaken holder, and its recipe."""

from __future__ import annotations

from badluck.faults import Faults

from app.explorer.targets import Target
from tests.unit.explorer.mutants.mutant import Budget, Mutant

LOCK = Budget(Target("lock:fenced"))
ALONE = Budget(Target("fenced"))
PAUSE = ALONE._replace(faults=Faults(pause=1))
CRASH = ALONE._replace(faults=Faults(crash=1))

IN = "modes/fenced.py"
IN_NUMBER = "store/lua/acquire_fenced.lua"
IN_READ, IN_WRITE = "store/lua/read_fenced.lua", "store/lua/write_fenced.lua"
SHOWN = "if tonumber(ARGV[1]) < tonumber(redis.call('GET', KEYS[1]) or '0') then"

MUTANTS = [
    Mutant(
        "fenced recipe: no NX",
        IN_NUMBER,
        "'NX', ",
        "",
        LOCK,
        "oversell",
    ),
    Mutant(
        "fenced recipe: no PX, it never ends",
        IN_NUMBER,
        ", 'PX', ARGV[2])",
        ")",
        LOCK._replace(faults=Faults(crash=1)),
        "stuck forever",
    ),
    Mutant(
        "fenced: the number is not checked on read",
        IN_READ,
        SHOWN,
        "if false then",
        PAUSE,
        "oversell",
    ),
    Mutant(
        "fenced: the number is not checked on write",
        IN_WRITE,
        SHOWN,
        "if false then",
        PAUSE,
        "oversell",
    ),
    Mutant(
        "fenced: reading does not raise the number shown",
        IN_READ,
        "redis.call('SET', KEYS[1], ARGV[1])\n",
        "",
        PAUSE,
        "oversell",
    ),
    Mutant(
        "fenced: the number never rises",
        IN_NUMBER,
        "math.max(last + 1, clock)",
        "1",
        PAUSE,
        "oversell",
    ),
    Mutant(
        "fenced: the number falls",
        IN_NUMBER,
        "math.max(last + 1, clock)",
        "9e15 - clock",
        CRASH,
        "no sale",
    ),
    Mutant(
        "fenced: the sale goes without its number",
        IN,
        "lock.fence or 0",
        "0",
        PAUSE,
        "oversell",
    ),
    Mutant(
        "fenced: <= instead of <, so no buyer may write what it has read",
        IN_WRITE,
        "tonumber(ARGV[1]) < ",
        "tonumber(ARGV[1]) <= ",
        ALONE,
        "no sale",
    ),
    Mutant(
        "fenced: a refused buyer believes that it has sold",
        IN,
        "self.sales.answer(order, outcome, left)",
        "self.sales.answer(order, b'SOLD', left)",
        PAUSE,
        "order lost",
    ),
    Mutant(
        "fenced: writes first, and checks afterwards",
        IN_WRITE,
        SHOWN,
        "redis.call('XADD', KEYS[3], '*', 'sale', ARGV[3])\n" + SHOWN,
        PAUSE,
        "phantom order",
    ),
    Mutant(
        "fenced: no PX in its lock",
        IN_NUMBER,
        ", 'PX', ARGV[2])",
        ")",
        CRASH,
        "stuck forever",
    ),
    Mutant(
        "fenced: the stock is not written",
        IN_WRITE,
        "redis.call('SET', KEYS[2], ARGV[2], 'XX')",
        "redis.call('EXISTS', KEYS[2])",
        ALONE,
        "oversell",
    ),
    Mutant(
        "fenced: reads the stock without showing its number",
        IN,
        "self.read(keys=[self.keys.fence, *self.sales.reads(order)], args=[token])",
        "self.store.mget(self.sales.reads(order))",
        PAUSE,
        "oversell",
    ),
    Mutant(
        "fenced: compares the wrong way round",
        IN_READ,
        "tonumber(ARGV[1]) < ",
        "tonumber(ARGV[1]) > ",
        ALONE,
        "no sale",
    ),
    Mutant(
        "fenced: never released",
        IN,
        "still_mine = lock.release()",
        "still_mine = True",
        ALONE,
        "stalled",
    ),
]
