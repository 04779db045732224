"""Ways to lock, one file each, in teaching order."""

from __future__ import annotations

from app.locks.db_unique import DbUnique
from app.locks.handle import Handle
from app.locks.lease import Lease

LOCKS: dict[str, type[Handle]] = {recipe.name: recipe for recipe in (Lease, DbUnique)}
DEFAULT = Lease.name  # what `lock` alone means
