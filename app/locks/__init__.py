"""Ways to lock, one file each, in teaching order."""

from __future__ import annotations

from app.locks.db_unique import DbUnique
from app.locks.del_takeover import DelTakeover
from app.locks.fenced import Fenced
from app.locks.getset import GetSet
from app.locks.handle import Handle
from app.locks.lease import Lease
from app.locks.queue import Queue
from app.locks.redlock import Redlock
from app.locks.setnx import SetNx
from app.locks.setnx_expire import SetNxExpire
from app.locks.unowned import Unowned
from app.locks.watchdog import Watchdog
from app.locks.watchdog_any import WatchdogAny
from app.locks.zookeeper import Zookeeper

RECIPES: tuple[type[Handle], ...] = (
    SetNx,
    SetNxExpire,
    Lease,
    Unowned,
    GetSet,
    DelTakeover,
    Watchdog,
    WatchdogAny,
    Fenced,
    Redlock,
    DbUnique,
    Zookeeper,
    Queue,
)
LOCKS = {recipe.name: recipe for recipe in RECIPES}
DEFAULT = Lease.name  # what `lock` alone means
