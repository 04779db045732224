"""Ways to break a round that holds: settling, putting back, and what each looks at."""

from __future__ import annotations

from badluck.faults import Faults

from app.service.explored.holding import Holding
from tests.unit.explorer.mutants.mutant import Budget, Mutant

SETTLE, BACK = "store/lua/settle.lua", "store/lua/put_back.lua"
ALONE = Budget(Holding("atomic"), buyers=3)
MORE = Budget(Holding("atomic", stock=2), buyers=3)
WATCH = Budget(Holding("watch", stock=2), buyers=3)
LEASE = Budget(Holding("lock:lease", stock=2), buyers=3, most=60_000)
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
        "settle.lua: the sweep is not told when a hold runs out",
        SETTLE,
        "    redis.call('ZADD', KEYS[3], string.match(entry[1], '%d+') + ARGV[2], order.id)\n",
        "",
        Budget(Holding("atomic"), Faults(crash=1), buyers=3),
        "held for ever",
    ),
    Mutant(
        "settle.lua: who ends a hold takes it off the sweep's list, and dies",
        SETTLE,
        "redis.call('ZADD', KEYS[3], now + ARGV[5], ARGV[1])",
        "redis.call('ZREM', KEYS[3], ARGV[1])",
        Budget(Holding("atomic"), Faults(crash=1), buyers=3),
        "held for ever",
    ),
    Mutant(
        "put_back.lua: does not ask whether the units are back",
        BACK,
        "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then",
        "if false then",
        ALONE,
        TWICE,
    ),
    Mutant(
        "put_back.lua: leaves the units held",
        BACK,
        "return redis.call('HDEL', KEYS[1], ARGV[1])",
        "return 1",
        ALONE,
        TWICE,
    ),
    Mutant(
        "put_back.lua: takes the hold away, and puts nothing back",
        BACK,
        "    redis.call('INCRBY', KEYS[i], ARGV[2])\n",
        "",
        ALONE,
        "unit lost",
    ),
    Mutant(
        "holds: who pays is not told that it has ended",
        "service/holds.py",
        "hold = self._settle(round, order, Stands.PAID) if round else None\n"
        "        if hold and hold.over:",
        "hold = self._settle(round, order, Stands.PAID) if round else None\n        if False:",
        ALONE,
        "order lost",
    ),
    Mutant(
        "holds: puts the units back, and then looks how it stands",
        "service/holds.py",
        "        hold = self._settled(round, order, stands)\n",
        "        self.put_back(round, order)\n        hold = self._settled(round, order, stands)\n",
        ALONE,
        "order lost",
    ),
    Mutant(
        "watch: puts back what it read, whoever has written since",
        "modes/watch.py",
        "pipe.watch(self.keys.stock)  # who",
        "pipe.watch(self.keys.ended)  # who",
        WATCH,
        TWICE,
        back=True,
    ),
    Mutant(
        "lock: puts back without the lock",
        "modes/lock.py",
        "if not lock.acquire(wait_s=self.round.wait / 1000):",
        "if lock.acquire(blocking=False) is None:",
        LEASE,
        "unit lost",
        back=True,
    ),
    Mutant(
        "write_back.lua: does not ask whether the units are back",
        "store/lua/write_back.lua",
        "if redis.call('HEXISTS', KEYS[2], ARGV[2]) == 0 then",
        "if false then",
        LEASE,
        TWICE,
    ),
    Mutant(
        "write_back_fenced.lua: writes, whatever token was shown",
        "store/lua/write_back_fenced.lua",
        "if tonumber(ARGV[1]) < tonumber(redis.call('GET', KEYS[1]) or '0') then",
        "if false then",
        FENCED,
        "unit lost",
    ),
    Mutant(
        "fused: puts back, and the hold stays",
        "modes/fused.py",
        '            ["HDEL", self.keys.held, order.id],\n',
        "",
        Budget(Holding("fused")),
        TWICE,
        back=True,
    ),
]
