"""Ways to sell, one file each, in teaching order."""

from __future__ import annotations

from collections.abc import Iterable

from app.modes.atomic import Atomic
from app.modes.decr import Decr
from app.modes.fenced import Fenced
from app.modes.fused import Fused
from app.modes.lock import Lock
from app.modes.mode import Mode as Mode
from app.modes.naive import Naive
from app.modes.read_before_watch import ReadBeforeWatch
from app.modes.watch import Watch
from app.modes.watch_elsewhere import WatchElsewhere
from app.modes.watched import Watched
from app.modes.watched_blind import WatchedBlind
from app.variants import Variants

SQL = ("sql", "sql_lock", "sql_version", "sql_units")


def _in_sql() -> Iterable[type[Mode]]:
    """SQLAlchemy takes longer to load than all else: most commands can do without."""
    from app.modes.sql import Sql
    from app.modes.sql_lock import SqlLock
    from app.modes.sql_units import SqlUnits
    from app.modes.sql_version import SqlVersion

    return Sql, SqlLock, SqlVersion, SqlUnits


TEACHING_ORDER: tuple[type[Mode] | str, ...] = (
    Naive,
    ReadBeforeWatch,
    WatchElsewhere,
    Watch,
    Lock,
    WatchedBlind,
    Watched,
    Fenced,
    Fused,
    Decr,
    *SQL,
    Atomic,
)
IN_SQL = ("database", "rows")  # of `needs`: the stock and the orders are in tables
MODES = Variants(TEACHING_ORDER, _in_sql)
