"""What the explorer does not tell apart from the unbroken code, and why. Two kinds."""

from __future__ import annotations

from badluck.faults import Faults

from app.explorer.targets import Target
from tests.unit.explorer.mutants.mutant import Budget, Mutant

NOTHING = ""  # is found
WATCHED_PAUSE = Budget(Target("watched"), Faults(pause=1))
FENCED_PAUSE = Budget(Target("fenced"), Faults(pause=1))

# Broken, and not found: these are gaps of the explorer.
MISSED = [
    # Each of its buyers comes with a key of his own; that one comes two times is not explored.
    Mutant(
        "decr: the order's key is not locked",
        "modes/decr.py",
        "with suppress(LockBusy, LockLost), lock:",
        "with suppress(LockBusy, LockLost):",
        Budget(Target("decr")),
        NOTHING,
    ),
    # Whose lock it is, it knows by the token: with one token for all, none is another's.
    Mutant(
        "lease: all buyers have the same token",
        "locks/lease.py",
        "self.token = self.clock.token()",
        'self.token = "mine"',
        Budget(Target("lock:lease"), Faults(pause=1)),
        NOTHING,
    ),
    # It is unfair; but a buyer buys once, and so each one's turn comes.
    Mutant(
        "queue/hand_over.lua: who came last is served first",
        "fairlock/lua/hand_over.lua",
        "redis.call('LPOP', KEYS[2])",
        "redis.call('RPOP', KEYS[2])",
        Budget(Target("fused"), buyers=3),
        NOTHING,
    ),
]

# Nothing that the code promises is broken in any order: there is nothing to find.
HARMLESS = [
    # All turn each other out of the lock; the WATCH and the look at the token are guards enough,
    # and who came last always sells.
    Mutant(
        "watched: no NX in its lock",
        "locks/lease.py",
        "nx=True, ",
        "",
        WATCHED_PAUSE,
        NOTHING,
    ),
    # The second release compares the token, and finds nothing.
    Mutant(
        "watched: released once more after the sale",
        "modes/watched.py",
        "            if not sold:\n                lock.release()",
        "            lock.release()",
        WATCHED_PAUSE,
        NOTHING,
    ),
    # Nobody reads two times with the same number.
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
    # The line is emptied and all are called in vain: each one's write is refused, and he comes
    # again. It costs trips.
    Mutant(
        "queue/hand_over.lua: forgets the one it has called",
        "fairlock/lua/hand_over.lua",
        "> 0 then\n      hold",
        "> 1 then\n      hold",
        Budget(Target("fused", stock=3), buyers=3),
        NOTHING,
    ),
    # He hears that nobody listens, and then listens.
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
