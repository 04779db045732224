"""redlock: a lease on the majority of several servers that know nothing of each other.

How       SET NX PX on each master in turn; taken if most said OK and time is left
Prevents  all that `lease` prevents, also while a minority of the servers is dead or frozen
Breaks    work that outlives the lease; a master that restarts and has forgotten its locks
          (then there are two majorities, as when a master's clock jumps)
Cost      two round trips for each master, one after the other; as many for every try that fails
Sound     while the work is shorter than the lease and no master forgets
Taught    The second tutorial leaves a hole open: the master that fails before its replica has the
          lock. A majority of several masters is the usual answer. It does nothing for work that
          outlives its lease.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Unpack

import redis

from app.locks.handle import LEASE_S, Handle, How
from app.store import lua

DRIFT = 0.01  # share of a lease: a master's clock may run this much faster than ours
STEP_S = 0.002  # for rounding: a master counts whole ms


class Redlock(Handle):
    name = "redlock"
    exhibit = False
    cost = (6, 6)
    tutorials = (2,)
    needs = "masters"
    # Longer than one round of all masters: after a shorter pause, clients that have split the votes
    # would only split them again.
    poll_s = (0.002, 0.020)

    def __init__(
        self,
        masters: Sequence[redis.Redis],
        key: str,
        lease_s: float = LEASE_S,
        **how: Unpack[How],
    ) -> None:
        super().__init__(masters, key, lease_s, **how)
        self.masters = masters
        self.majority = len(self.masters) // 2 + 1
        self.token = ""
        self.delete_if_mine = self.masters[0].register_script(lua.source("release"))
        self.extend_if_mine = self.masters[0].register_script(lua.source("extend"))

    def attempt(self) -> bool:
        # A token for each try: the late DEL of a failed try must not delete the next try's key.
        self.token = self.clock.token()
        ms = round(self.lease_s * 1000)
        # Counted from before the first SET, because that master's lease ends first.
        ends = self.end_of(self.lease_s)
        won = False
        try:
            won = self.most(lambda master: master.set(self.key, self.token, nx=True, px=ms))
            won = won and self.clock.now() < ends
        finally:
            if not won:  # our keys on some masters would keep other clients out
                with suppress(redis.RedisError):
                    self.free()
        self.ends = ends if won else None
        return won

    def free(self) -> bool:
        return self.most(
            lambda master: self.delete_if_mine([self.key], [self.token], client=master)
        )

    def extend(self, lease_s: float) -> bool:
        """Let the lease end `lease_s` from now. False: too few masters agreed, the lock is lost."""
        ms = round(lease_s * 1000)
        ends = self.end_of(lease_s)
        is_extended = self.most(
            lambda master: self.extend_if_mine([self.key], [self.token, ms], client=master)
        )
        if is_extended and self.clock.now() < ends:
            self.ends = ends
            return True
        self.lose()
        return False

    def owned(self) -> bool:
        """Ask the masters whether this handle holds a majority."""
        return self.most(lambda master: self.vote(master) == self.token.encode())

    def locked(self) -> bool:
        """Ask the masters whether any client holds a majority."""
        votes: Counter[object] = Counter()
        self.most(lambda master: votes.update([self.vote(master)]))
        del votes[None]
        return any(count >= self.majority for count in votes.values())

    def vote(self, master: redis.Redis) -> bytes | str | None:
        return master.get(self.key)

    def end_of(self, lease_s: float) -> float:
        """Return when a lease that is requested now ends, by the fastest clock."""
        return self.clock.now() + lease_s * (1 - DRIFT) - STEP_S

    def most(self, question: Callable[[redis.Redis], object]) -> bool:
        """Do most masters say yes? A master that is away says no, after its short time-out.

        Raises redis.ConnectionError when too many are away for any majority.
        """
        yes = answers = 0
        away = ""
        for number, master in enumerate(self.masters, 1):
            try:
                yes += bool(question(master))
                answers += 1
            except redis.RedisError as error:
                away = f"master {number}: {error}"
        if answers < self.majority:
            raise redis.ConnectionError(
                f"{answers} of {len(self.masters)} masters answer, redlock needs "
                f"{self.majority} ({away})"
            )
        return yes >= self.majority
