"""Ways to lock, one file each, in teaching order."""

from __future__ import annotations

from app.locks.handle import Handle
from app.locks.lease import Lease
from app.locks.redlock import Redlock
from app.locks.zookeeper import Zookeeper

LOCKS: dict[str, type[Handle]] = {recipe.name: recipe for recipe in (Lease, Redlock, Zookeeper)}
DEFAULT = Lease.name  # what `lock` alone means
