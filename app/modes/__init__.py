"""Ways to sell, one file each, in teaching order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.domain.selling import WayName
from app.locks import LOCKS
from app.locks.handle import Handle
from app.modes.atomic import Atomic
from app.modes.decr import Decr
from app.modes.fenced import Fenced
from app.modes.fused import Fused
from app.modes.lock import Lock
from app.modes.mode import LockingMode as LockingMode
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
    """Load the modes in SQL only when one is used: SQLAlchemy is slow to load."""
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
IN_SQL = ("database", "rows")  # values of `needs` with stock and orders in tables
MODES = Variants(TEACHING_ORDER, _in_sql)


@dataclass(frozen=True, slots=True)
class Way:
    """A way to sell: a mode, with the recipe of its lock where it takes one."""

    mode: type[Mode]
    recipe: type[Handle] | None = None

    @classmethod
    def of(cls, name: str) -> Way:
        """Parse `mode` or `mode:recipe`. Raises KeyError if `exists(name)` is False."""
        mode, recipe = WayName.parse(name)
        return cls(MODES[mode], LOCKS[recipe] if recipe else None)

    @staticmethod
    def exists(name: str) -> bool:
        mode, recipe = WayName.parse(name)
        return mode in MODES and (not recipe or recipe in LOCKS)

    @property
    def name(self) -> str:
        return f"{self.mode.name}:{self.recipe.name}" if self.recipe else self.mode.name

    @property
    def kind(self) -> type[Mode] | type[Handle]:
        """The recipe's class, or the class of a mode that takes no recipe."""
        return self.recipe or self.mode

    @property
    def exhibit(self) -> bool:
        """Is the mode or the recipe broken on purpose?"""
        return self.mode.exhibit or (self.recipe is not None and self.recipe.exhibit)

    @property
    def needs(self) -> str:
        """Where the way keeps its state: store, masters, database, rows or zookeeper."""
        return self.kind.needs

    @property
    def in_database(self) -> bool:
        """Are the stock and the orders in tables? (A recipe's table holds only locks.)"""
        return self.mode.needs in IN_SQL

    @property
    def in_rows(self) -> bool:
        """Is each unit of the stock a row?"""
        return self.mode.needs == "rows"
