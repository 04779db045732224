"""Ways to break a lease that is renewed: `lock:watchdog`, at work for longer than its lease."""

from __future__ import annotations

from badluck.faults import Faults

from app.explorer.targets import Target
from tests.unit.explorer.mutants.mutant import Budget, Mutant

WORK = Budget(Target("lock:watchdog", think=15_000))  # a lease and a half
PAUSE = WORK._replace(faults=Faults(pause=1))
JUST_THEN = Budget(Target("lock:watchdog", think=9_999))  # done when a renewal is due

IN, IN_EXTEND = "locks/watchdog.py", "store/lua/extend.lua"
RENEWS = "self.extend_if_mine(keys=[self.key], args=[self.token, round(self.lease_s * 1000)])"

MUTANTS = [
    Mutant(
        "watchdog: no NX",
        IN,
        "nx=True, ",
        "",
        WORK,
        "oversell",
    ),
    Mutant(
        "watchdog: never renews",
        IN,
        "self.clock.every(self.lease_s / 3, self.renew)",
        "lambda: None",
        WORK,
        "oversell",
    ),
    Mutant(
        "watchdog: renews once, and never again",
        IN,
        "        self.counts.renewals += 1\n        return True",
        "        self.counts.renewals += 1\n        return False",
        WORK,
        "oversell",
    ),
    Mutant(
        "watchdog: renews when the lease has ended",
        IN,
        "self.lease_s / 3, self",
        "self.lease_s * 1.1, self",
        WORK,
        "oversell",
    ),
    Mutant(
        "watchdog: renews with another name than it has",
        IN,
        "args=[self.token, round(",
        "args=[self.key, round(",
        WORK,
        "oversell",
    ),
    Mutant(
        "watchdog: each renewal cuts the lease to a third",
        IN,
        "round(self.lease_s * 1000)])",
        "round(self.lease_s * 333)])",
        WORK,
        "oversell",
    ),
    Mutant(
        "extend.lua: renews without the token",
        IN_EXTEND,
        "redis.call('GET', KEYS[1]) == ARGV[1]",
        "redis.call('GET', KEYS[1])",
        PAUSE,
        "lock renewed by another",
    ),
    Mutant(
        "watchdog: GET, compare, PEXPIRE in three steps",
        IN,
        RENEWS,
        "self.owned() and self.store.pexpire(self.key, round(self.lease_s * 1000))",
        PAUSE,
        "lock renewed by another",
    ),
    Mutant(
        "watchdog: renews by an unconditional SET",
        IN,
        RENEWS,
        "self.store.set(self.key, self.token, px=round(self.lease_s * 1000))",
        JUST_THEN,
        "stalled",
    ),
    Mutant(
        "watchdog: released without a look at its owner",
        IN,
        "return bool(self.delete_if_mine(keys=[self.key], args=[self.token]))",
        "return bool(self.store.delete(self.key))",
        PAUSE,
        "lock deleted by another",
    ),
    Mutant(
        "extend.lua: compares the wrong way round",
        IN_EXTEND,
        "== ARGV[1]",
        "~= ARGV[1]",
        WORK,
        "oversell",
    ),
    Mutant(
        "extend.lua: a renewal makes it last forever",
        IN_EXTEND,
        "redis.call('PEXPIRE', KEYS[1], ARGV[2])",
        "redis.call('PERSIST', KEYS[1])",
        WORK._replace(faults=Faults(crash=1)),
        "stuck forever",
    ),
]
