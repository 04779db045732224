"""Ways to break `watched`: a lock, and a WATCH on it."""

from __future__ import annotations

from badluck.faults import Faults

from app.explorer.targets import Target
from tests.unit.explorer.mutants.mutant import Budget, Mutant

ALONE = Budget(Target("watched"))
PAUSE = ALONE._replace(faults=Faults(pause=1))
IN = "modes/watched.py"

MUTANTS = [
    Mutant(
        "watched: no WATCH",
        IN,
        "                pipe.watch(self.keys.lock, self.keys.ended)\n",
        "                pipe.watch(self.keys.ended)\n",
        PAUSE,
        "oversell",
    ),
    Mutant(
        "watched: WATCH on the stock instead of the lock",
        IN,
        "pipe.watch(self.keys.lock, self.keys.ended)",
        "pipe.watch(self.keys.stock)",
        PAUSE,
        "lock deleted by another",
    ),
    Mutant(
        "watched: checks the lock's owner, and only then WATCHes the lock",
        IN,
        """\
                pipe.watch(self.keys.lock, self.keys.ended)
                # Check the owner only now: WATCH notices changes from now on, and the lock may have
                # expired before. The round's end does not change the lock: `ended` is watched, too.
                holder, *values = pipe.mget(self.keys.lock, *self.sales.reads(order))
""",
        """\
                holder, *values = self.store.mget(self.keys.lock, *self.sales.reads(order))
                pipe.watch(self.keys.lock, self.keys.ended)
""",
        PAUSE,
        "oversell",
    ),
    Mutant(
        "watched: does not check the lock's owner",
        IN,
        "if holder != lock.token.encode():",
        "if False:",
        PAUSE,
        "lock deleted by another",
    ),
    Mutant(
        "watched: checks only whether the lock is held",
        IN,
        "if holder != lock.token.encode():",
        "if not holder:",
        PAUSE,
        "lock deleted by another",
    ),
    Mutant(
        "watched: UNWATCH before MULTI",
        IN,
        "pipe.multi()",
        "pipe.unwatch(), pipe.multi()",
        PAUSE,
        "oversell",
    ),
    Mutant(
        "watched: EXEC's nil is ignored",
        IN,
        "return Sale(Outcome.BUSY, left=stock, conflicts=1)",
        "pass",
        PAUSE,
        "order lost",
    ),
    Mutant(
        "watched: not released when nothing was sold",
        IN,
        "            if not sold:\n                lock.release()",
        "            pass",
        ALONE._replace(buyers=3),
        "stalled",
    ),
    Mutant(
        "watched: the sale does not give the lock back",
        IN,
        "                pipe.delete(self.keys.lock)\n",
        "",
        ALONE,
        "stalled",
    ),
    Mutant(
        "watched: gives the lock back before EXEC",
        IN,
        "pipe.multi()",
        "self.store.delete(self.keys.lock), pipe.multi()",
        ALONE,
        "no sale",
    ),
    Mutant("watched: the stock is not written", IN, "pipe.set(", "(", ALONE, "oversell"),
    Mutant(
        "watched: released without a look at its owner",
        "locks/lease.py",
        "return bool(self.delete_if_mine(keys=[self.key], args=[self.token]))",
        "return bool(self.store.delete(self.key))",
        PAUSE,
        "lock deleted by another",
    ),
]
