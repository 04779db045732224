"""Ways to lock, one file each, in teaching order."""

from __future__ import annotations

from collections.abc import Iterable

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
from app.variants import Variants

SQL = ("db_unique",)


def _in_sql() -> Iterable[type[Handle]]:
    """Load the recipes in SQL only when one is used: SQLAlchemy is slow to load."""
    from app.locks.db_unique import DbUnique

    return (DbUnique,)


RECIPES: tuple[type[Handle] | str, ...] = (
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
    *SQL,
    Zookeeper,
    Queue,
)
LOCKS = Variants(RECIPES, _in_sql)
DEFAULT = Lease.name  # the recipe of a plain `lock`
