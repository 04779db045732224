"""Ways to sell, one file each, in teaching order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from app.domain import Clock, Order, Round, Sale
from app.locks.handle import Handle
from app.modes.atomic import Atomic
from app.modes.decr import Decr
from app.modes.fenced import Fenced
from app.modes.fused import Fused
from app.modes.lock import Lock
from app.modes.naive import Naive
from app.modes.read_before_watch import ReadBeforeWatch
from app.modes.watch import Watch
from app.modes.watch_elsewhere import WatchElsewhere
from app.modes.watched import Watched
from app.modes.watched_blind import WatchedBlind
from app.store.servers import Servers
from app.variants import Variants


class Mode(Protocol):
    """One way to sell. Its module's docstring says how, what it prevents, breaks and costs."""

    name: str
    exhibit: bool  # broken on purpose, to be looked at; never a default
    # What it sells from: "store", "database", or "rows": a database that can lock single ones.
    needs: str
    # Round trips and commands of a purchase that meets nobody; a recipe's come on top, SQL's are
    # not counted.
    cost: tuple[int, int]
    outlived: str  # what to expect when the work outlives the mode's lease; "": it has none
    no_think: str  # why think time does nothing; "": it does something
    one_at_a_time: bool  # while one purchase is in its critical section, do all others wait?
    increments: bool  # may INCRBY put units back at any moment? Not where SET writes what GET read
    tutorials: tuple[int, ...]  # those of the five that teach it

    def __init__(self, servers: Servers, clock: Clock, round: Round) -> None:
        """`servers` and `clock` are all that a mode may use of the world."""
        ...

    def sell(self, order: Order) -> Sale:
        """Try to sell `order.quantity` units, all or nothing.

        A key seen before gives the sale made then. ROUND_OVER when the round's stock is gone
        from the store, or marked as ended in the database. Raises redis.RedisError or
        DatabaseAway; whether the sale happened is then unknown, and trying again with the same
        key finds out.
        """
        ...


@runtime_checkable
class Guarded(Mode, Protocol):
    """A mode that writes blindly what it has read: any other writer needs its lock, too."""

    def guard(self) -> Handle:
        """A new handle on that lock."""
        ...


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
