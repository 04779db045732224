"""The table of recipe `db_unique`: locks with owner and expiry, by the database's own clock."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Double, String
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.sql.functions import FunctionElement

from app.store.sql.orders import Base


class LockRow(Base):
    """One lock. `name` is unique, so that only one owner can insert it; `until` is s since 1970."""

    __tablename__ = "locks"

    name: Mapped[str] = mapped_column(String(128), primary_key=True)
    owner: Mapped[str] = mapped_column(String(32))
    until: Mapped[float] = mapped_column(Double)


class Now(FunctionElement[float]):
    """The database's clock, in seconds since 1970, at this statement."""

    type = Double()
    inherit_cache = True


@compiles(Now, "postgresql")
def _postgresql(_element: Now, _compiler: Any, **_: Any) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"


@compiles(Now, "sqlite")
def _sqlite(_element: Now, _compiler: Any, **_: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"  # 2440587.5: the day 1970 began
