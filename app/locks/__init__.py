"""Ways to lock, one file each, in teaching order."""

from __future__ import annotations

from typing import Protocol

import redis

from app.domain import Clock
from app.locks.lease import Lease


class Recipe(Protocol):
    """One holder's handle on one lock; made anew for each critical section."""

    name: str
    exhibit: bool  # broken on purpose, to be looked at; never a default
    attempts: int  # tries to acquire so far

    def __init__(self, store: redis.Redis, clock: Clock, key: str, lease: float) -> None:
        """`key` names the lock in the store; `lease` is its lifetime in seconds."""
        ...

    def acquire(self, patience: float) -> bool:
        """Wait at most `patience` seconds. True: the lock is mine."""
        ...

    def release(self) -> bool:
        """True: the lock was still mine; False: it had gone to nobody or somebody else."""
        ...


LOCKS: dict[str, type[Recipe]] = {recipe.name: recipe for recipe in (Lease,)}
DEFAULT = Lease.name  # what `lock` alone means
