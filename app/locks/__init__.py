"""Ways to lock, one file each, in teaching order."""

from __future__ import annotations

from app.locks.handle import Handle
from app.locks.lease import Lease
from app.locks.queue import Queue

LOCKS: dict[str, type[Handle]] = {recipe.name: recipe for recipe in (Lease, Queue)}
DEFAULT = Lease.name  # what `lock` alone means
