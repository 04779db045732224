"""Ways to break a round that holds: settling, putting back, and what each looks at."""

from __future__ import annotations

from badluck.faults import Faults

from app.explorer.hold_target import Holding
from tests.unit.explorer.mutants.mutant import Budget, Mutant

SETTLE, BACK = "store/lua/settle.lua", "store/lua/put_back.lua"
ALONE = Budget(Holding("atomic"), buyers=3)
BATCH = Budget(Holding("atomic", stock=2), buyers=4)
FENCED = Budget(Holding("fenced", stock=2), Faults(pause=1), buyers=3, most=60_000)
TWICE = "unit there twice"

MUTANTS = [
    Mutant(
        "settle.lua: settles again what has ended",
        SETTLE,
        "if ended then",
        "if false then",
        ALONE,
        "two ends",
    ),
    Mutant(
        "settle.lua: forgets how a hold has ended",
        SETTLE,
        "redis.call('SET', KEYS[4], stands .. ' ' .. deadline, 'EX', ARGV[4])\n",
        "",
        ALONE,
        "two ends",
    ),
    Mutant(
        "settle.lua: takes a payment after the deadline",
        SETTLE,
        "local stands = now >= tonumber(deadline) and",
        "local stands = now >= tonumber(deadline) and ARGV[3] ~= 'PAID' and",
        ALONE,
        "paid too late",
    ),
    Mutant(
        "settle.lua: what is paid for stays held",
        SETTLE,
        "  redis.call('HDEL', KEYS[2], ARGV[1])\n",
        "",
        ALONE,
        TWICE,
    ),
    Mutant(
        "settle.lua: what is paid for is noted nowhere",
        SETTLE,
        "  redis.call('XADD', KEYS[5], '*', 'sale', sale)\n",
        "",
        ALONE,
        "order lost",
    ),
    Mutant(
        "settle.lua: what is entered stays in the stream, and is entered again",
        SETTLE,
        "    redis.call('XDEL', KEYS[1], entry[1])\n",
        "",
        ALONE,
        TWICE,
    ),
    Mutant(
        "settle.lua: the sweep does not learn when a hold runs out",
        SETTLE,
        "    redis.call('ZADD', KEYS[3], string.match(entry[1], '%d+') + ARGV[2], order.id)\n",
        "",
        Budget(Holding("atomic"), Faults(crash=1), buyers=3),
        "held forever",
    ),
    Mutant(
        "settle.lua: the caller takes the hold off the sweep's list, and dies",
        SETTLE,
        "redis.call('ZADD', KEYS[3], now + ARGV[5], ARGV[1])",
        "redis.call('ZREM', KEYS[3], ARGV[1])",
        Budget(Holding("atomic"), Faults(crash=1), buyers=3),
        "held forever",
    ),
    Mutant(
        "put_back.lua: does not ask whether the units are back",
        BACK,
        "  if redis.call('HEXISTS', KEYS[1], ARGV[at]) == 1 then",
        "  if true then",
        ALONE,
        TWICE,
    ),
    Mutant(
        "put_back.lua: puts a whole batch back, also what is back already",
        BACK,
        "  if redis.call('HEXISTS', KEYS[1], ARGV[at]) == 1 then",
        "  if #ARGV > 4 or redis.call('HEXISTS', KEYS[1], ARGV[at]) == 1 then",
        BATCH,
        TWICE,
    ),
    Mutant(
        "put_back.lua: counts the first of a batch only",
        BACK,
        "    units = units + ARGV[at + 1]\n",
        "    units = ARGV[4]\n",
        BATCH,
        "unit lost",
    ),
    Mutant(
        "put_back.lua: leaves the units held",
        BACK,
        "  redis.call('HDEL', KEYS[1], ARGV[at])\n",
        "",
        ALONE,
        TWICE,
    ),
    Mutant(
        "put_back.lua: takes the hold away, and puts nothing back",
        BACK,
        "redis.call('INCRBY', stock, string.format('%.0f', units))\n",
        "",
        ALONE,
        "unit lost",
    ),
    Mutant(
        "holds: a payment ignores that the hold has ended",
        "service/holds.py",
        "hold = self._end(round, order, Stands.PAID) if round else None\n"
        "        if hold and hold.over:",
        "hold = self._end(round, order, Stands.PAID) if round else None\n        if False:",
        ALONE,
        "order lost",
    ),
    Mutant(
        "holds: puts the units back, and then looks at the hold's state",
        "service/holds.py",
        "        hold = self.ledgers.of(round).settle(round, order, stands)\n",
        "        self.put_back(round, [order])\n"
        "        hold = self.ledgers.of(round).settle(round, order, stands)\n",
        ALONE,
        "order lost",
    ),
    Mutant(
        "expire.lua: takes what it answers off the list, and the sweep dies",
        "store/lua/expire.lua",
        "redis.call('ZADD', KEYS[3], now + pause, id)",
        "redis.call('ZREM', KEYS[3], id)",
        Budget(Holding("atomic"), Faults(crash=2), buyers=3),
        "held forever",
    ),
    Mutant(
        "holds: puts back without the lock",
        "service/holds.py",
        "if not lock.acquire(wait_s=round.wait / 1000):",
        "if lock.acquire(blocking=False) is None:",
        Budget(Holding("lock:fenced", stock=2), buyers=3, most=60_000),
        "unit lost",
    ),
    Mutant(
        "put_back.lua: writes, whatever token was shown",
        BACK,
        "    if tonumber(ARGV[2]) < tonumber(shown) then",
        "    if false then",
        FENCED,
        "unit lost",
    ),
    Mutant(
        "put_back.lua: writes without a look at the lock's owner",
        BACK,
        "redis.call('GET', KEYS[5]) ~= ARGV[1]",
        "false",
        Budget(Holding("watched", stock=2), Faults(pause=1), buyers=3, most=60_000),
        "unit lost",
    ),
]
