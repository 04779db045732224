"""Mutants that the explorer does not tell from the unbroken code, of two kinds, with reasons."""

from __future__ import annotations

from badluck.faults import Faults

from app.explorer.targets import Target
from tests.unit.explorer.mutants.mutant import Budget, Mutant

NOTHING = ""  # is found
WATCHED_PAUSE = Budget(Target("watched"), Faults(pause=1))
FENCED_PAUSE = Budget(Target("fenced"), Faults(pause=1))

# Broken, and not found: these are gaps of the explorer.
MISSED = [
    # Each of its buyers has a key of its own; two requests with one key are not explored.
    Mutant(
        "decr: the order's key is not locked",
        "modes/decr.py",
        "with suppress(LockBusy, LockLost), lock:",
        "with suppress(LockBusy, LockLost):",
        Budget(Target("decr")),
        NOTHING,
    ),
    # It knows a lock's owner by the token: with one token for all, no lock is another's.
    Mutant(
        "lease: all buyers have the same token",
        "locks/lease.py",
        "self.token = self.clock.token()",
        'self.token = "mine"',
        Budget(Target("lock:lease"), Faults(pause=1)),
        NOTHING,
    ),
    # It is unfair, but each buyer buys only once, so that every buyer gets its turn.
    Mutant(
        "queue/hand_over.lua: last come, first served",
        "fairlock/lua/hand_over.lua",
        "redis.call('LPOP', KEYS[2])",
        "redis.call('RPOP', KEYS[2])",
        Budget(Target("fused"), buyers=3),
        NOTHING,
    ),
]

# Nothing that the code promises is broken in any order: there is nothing to find.
HARMLESS = [
    # The buyers take the lock from each other. WATCH and the check of the token suffice as guards,
    # and the last buyer always sells.
    Mutant(
        "watched: no NX in its lock",
        "locks/lease.py",
        "nx=True, ",
        "",
        WATCHED_PAUSE,
        NOTHING,
    ),
    # The second release compares the token, and deletes nothing.
    Mutant(
        "watched: released once more after the sale",
        "modes/watched.py",
        "            if not sold:\n                lock.release()",
        "            lock.release()",
        WATCHED_PAUSE,
        NOTHING,
    ),
    # No buyer reads twice with the same number.
    Mutant(
        "fenced: <= instead of < on read",
        "store/lua/read_fenced.lua",
        "tonumber(ARGV[1]) < ",
        "tonumber(ARGV[1]) <= ",
        FENCED_PAUSE,
        NOTHING,
    ),
    # Until 2286 all numbers have 16 digits.
    Mutant(
        "fenced: numbers compared as text",
        "store/lua/write_fenced.lua",
        "tonumber(ARGV[1]) < tonumber(redis.call('GET', KEYS[1]) or '0')",
        "ARGV[1] < (redis.call('GET', KEYS[1]) or '0')",
        FENCED_PAUSE,
        NOTHING,
    ),
    # All waiters are called, and leave the line. The write of each one is refused, and it joins
    # the line again. That costs round trips.
    Mutant(
        "queue/hand_over.lua: forgets the one it has called",
        "fairlock/lua/hand_over.lua",
        "> 0 then\n      hold",
        "> 1 then\n      hold",
        Budget(Target("fused", stock=3), buyers=3),
        NOTHING,
    ),
    # The buyer finds out that it does not listen, and then subscribes.
    Mutant(
        "queue: stands in line without listening",
        "fairlock/waiter.py",
        "            if not self.place:\n"
        "                self.queue.retry(lambda _: self.mine.subscribe())\n",
        "            if not self.place:\n",
        Budget(Target("fused"), buyers=3),
        NOTHING,
    ),
]
