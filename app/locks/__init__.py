"""Ways to lock, one file each, in teaching order."""

from __future__ import annotations

from app.locks.fenced import Fenced
from app.locks.handle import Handle
from app.locks.lease import Lease

LOCKS: dict[str, type[Handle]] = {recipe.name: recipe for recipe in (Lease, Fenced)}
DEFAULT = Lease.name  # what `lock` alone means
