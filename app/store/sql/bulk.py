"""Rows of many orders in one statement, for as little CPU of ours as the drivers allow.

fulfil shares its cores with the shop, and SQLAlchemy's own executemany prepares the parameters of
each row in Python. PostgreSQL is sent one JSON and makes rows of it; SQLite's driver takes tuples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, cast

import orjson
from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from app.domain import Order

NOW = "CURRENT_TIMESTAMP"


def insert(sql: Session | Connection, row: type[Any]) -> Any:
    """Return the dialect's INSERT into the table of `row`: it has ON CONFLICT."""
    dialect = (sql.get_bind() if isinstance(sql, Session) else sql).dialect
    return (postgresql if dialect.name == "postgresql" else sqlite).insert(row)


def insert_missing(
    session: Session, table: Table, columns: Mapping[str, str], orders: Sequence[Order]
) -> int:
    """Insert a row for each order, in their order; a row whose primary key exists is left alone.

    `columns` maps a column's name to the order's member, or to NOW. Return how many rows are new.
    """
    if not orders:
        return 0
    dialect = session.get_bind().dialect
    given: Any
    if dialect.name == "postgresql":
        given = (orjson.dumps(orders).decode(),)
    else:
        given = list(map(attrgetter(*_members(columns)), orders))
    statement = _statement(dialect.name, table, tuple(columns.items()))
    return session.connection().exec_driver_sql(statement, given).rowcount


def _members(columns: Mapping[str, str]) -> list[str]:
    return [member for member in columns.values() if member != NOW]


@cache
def _statement(database: str, table: Table, columns: tuple[tuple[str, str], ...]) -> str:
    names = ", ".join(f'"{name}"' for name, _ in columns)
    key_columns = ", ".join(f'"{column.name}"' for column in table.primary_key)
    if database == "postgresql":
        values = ", ".join(member if member == NOW else f'"{member}"' for _, member in columns)
        types = {member: _type(table.c[name]) for name, member in columns if member != NOW}
        given = ", ".join(f'"{member}" {kind}' for member, kind in types.items())
        source = f"SELECT {values} FROM json_to_recordset(%s::json) AS given ({given})"  # noqa: S608  names of columns
    else:
        values = ", ".join(member if member == NOW else "?" for _, member in columns)
        source = f"VALUES ({values})"
    return f"INSERT INTO {table.name} ({names}) {source} ON CONFLICT ({key_columns}) DO NOTHING"


def _type(column: Any) -> str:
    return str(column.type.compile(cast(Any, postgresql).dialect()))
