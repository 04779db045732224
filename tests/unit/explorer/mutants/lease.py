"""Ways to break a lock that expires: `lock:lease`, and what all locks have in common."""

from __future__ import annotations

from badluck.faults import Faults

from app.explorer.targets import Target
from tests.unit.explorer.mutants.mutant import Budget, Mutant

LEASE = Budget(Target("lock:lease"))
CRASH = LEASE._replace(faults=Faults(crash=1))
PAUSE = LEASE._replace(faults=Faults(pause=1))

IN_LOCK, IN_LEASE, IN_RELEASE = "modes/lock.py", "locks/lease.py", "store/lua/release.lua"
IN_WRITE = "store/lua/write.lua"
TAKES = "self.store.set(self.key, self.token, nx=True, px=round(self.lease_s * 1000))"
FREES = "return bool(self.delete_if_mine(keys=[self.key], args=[self.token]))"

MUTANTS = [
    Mutant("lease: no NX", IN_LEASE, "nx=True, ", "", LEASE, "oversell"),
    Mutant(
        "lease: what SET NX answers is not looked at",
        IN_LEASE,
        f"if {TAKES}:",
        f"if {TAKES} or True:",
        LEASE,
        "oversell",
    ),
    Mutant(
        "lease: GET, and SET when there was nothing",
        IN_LEASE,
        TAKES,
        "not self.store.get(self.key) and "
        "self.store.set(self.key, self.token, px=round(self.lease_s * 1000))",
        LEASE,
        "oversell",
    ),
    Mutant(
        "lease: no PX, it never ends",
        IN_LEASE,
        ", px=round(self.lease_s * 1000)",
        "",
        CRASH,
        "stuck forever",
    ),
    Mutant(
        "lease: SETNX, then EXPIRE",
        IN_LEASE,
        TAKES,
        "self.store.setnx(self.key, self.token) and "
        "self.store.pexpire(self.key, round(self.lease_s * 1000))",
        CRASH,
        "stuck forever",
    ),
    Mutant(
        "lease: EXPIRE, then SETNX",
        IN_LEASE,
        TAKES,
        "(self.store.pexpire(self.key, round(self.lease_s * 1000)), "
        "self.store.setnx(self.key, self.token))[1]",
        CRASH,
        "lock leaked",
    ),
    Mutant(
        "lease: released without a look at its owner",
        IN_LEASE,
        FREES,
        "return bool(self.store.delete(self.key))",
        PAUSE,
        "lock deleted by another",
    ),
    Mutant(
        "lease: GET, compare, DEL in three steps",
        IN_LEASE,
        FREES,
        "return self.owned() and bool(self.store.delete(self.key))",
        PAUSE,
        "lock deleted by another",
    ),
    Mutant(
        "release.lua: the owner is not compared",
        IN_RELEASE,
        "redis.call('GET', KEYS[1]) == ARGV[1]",
        "redis.call('GET', KEYS[1])",
        PAUSE,
        "lock deleted by another",
    ),
    Mutant(
        "release.lua: compares the wrong way round",
        IN_RELEASE,
        "== ARGV[1]",
        "~= ARGV[1]",
        LEASE,
        "stalled",
    ),
    Mutant("lease: never released", IN_LEASE, FREES, "return True", LEASE, "stalled"),
    Mutant(
        "lock: released before the write",
        IN_LOCK,
        "self.clock.sleep(self.round.think / 1000)",
        "self.store.delete(self.keys.lock)",
        LEASE,
        "oversell",
    ),
    Mutant(
        "lock: released before the section",
        IN_LOCK,
        "            sale = self.critical_section(order)\n"
        "        finally:\n            still_mine = lock.release()",
        "            still_mine = lock.release()\n"
        "        finally:\n            sale = self.critical_section(order)",
        LEASE,
        "oversell",
    ),
    Mutant(
        "lock: each buyer locks a key of its own",
        "modes/mode.py",
        "client, self.keys.lock, ",
        "client, self.keys.claim(self.clock.token()), ",
        LEASE,
        "oversell",
    ),
    Mutant(
        "lock: does not wait for the lock, and sells all the same",
        IN_LOCK,
        "if not lock.acquire(wait_s=self.round.wait / 1000):\n",
        "if lock.acquire(blocking=False) is None:\n",
        LEASE,
        "oversell",
    ),
    Mutant(
        "lock: takes the unit before the step that sells it",
        IN_LOCK,
        "self.clock.sleep(self.round.think / 1000)",
        "self.store.set(self.keys.stock, stock - order.quantity)",
        CRASH,
        "unit lost",
    ),
    Mutant(
        "write.lua: does not ask whether the key has bought",
        IN_WRITE,
        "if seen then",
        "if false then",
        Budget(Target("lock:lease", resend=True), Faults(lost=1)),
        "sold twice",
    ),
    Mutant(
        "write.lua: leaves the stock as it is",
        IN_WRITE,
        "redis.call('SET', KEYS[1], ARGV[1], 'XX')",
        "redis.call('GET', KEYS[1])",
        LEASE,
        "oversell",
    ),
    Mutant(
        "write.lua: takes the unit and notes no sale",
        IN_WRITE,
        "redis.call('XADD', KEYS[2], '*', 'sale', ARGV[2])\n",
        "",
        LEASE,
        "unit lost",
    ),
    Mutant(
        "handle: what the try to lock answers is not looked at",
        "locks/handle.py",
        "            if self._try():\n                return True\n",
        "            if self._try() or True:\n                return True\n",
        LEASE,
        "oversell",
    ),
    Mutant(
        "handle: a buyer that has timed out goes in all the same",
        "locks/handle.py",
        "if not blocking or not self._wait(deadline):\n                return False",
        "if not blocking or not self._wait(deadline):\n                return True",
        Budget(Target("lock:watchdog", think=15_000, wait=5_000)),
        "oversell",
    ),
]
