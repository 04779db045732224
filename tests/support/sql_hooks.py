"""Helpers for tests of selling in the database: hooks on statements, a lock on the row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, event, select, text

from app.bootstrap import Services
from app.domain import Round
from app.store.sql import stock
from app.store.sql.orders import OrderRow
from app.store.sql.stock import StockRow

LOCKING = ("FOR UPDATE", "BEGIN IMMEDIATE")  # how sql_lock takes its lock


@contextmanager
def before_statement(services: Services, *marks: str, hand: Callable[[], object]) -> Iterator[None]:
    """Call `hand` whenever a statement with one of `marks` is about to be sent."""

    def look(_c: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if any(mark in statement for mark in marks):
            hand()

    event.listen(services.engine, "before_cursor_execute", look)
    try:
        yield
    finally:
        event.remove(services.engine, "before_cursor_execute", look)


@contextmanager
def held(services: Services, round: Round) -> Iterator[Connection]:
    """Another session holds the row, or on SQLite the file, until the end of the block."""
    with services.engine.connect() as other:
        if other.dialect.name == "sqlite":
            other.execute(text("BEGIN IMMEDIATE"))
        other.execute(select(StockRow.units).where(stock.of(round)).with_for_update())
        yield other


def waiting_for_locks(services: Services) -> int:
    """Return how many sessions wait for a lock, by PostgreSQL's own count."""
    with services.engine.connect() as looker:
        return int(
            looker.scalar(
                text(
                    "SELECT count(*) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND wait_event_type = 'Lock'"
                )
            )
            or 0
        )


def rows(services: Services) -> int:
    """Return the number of orders in the database."""
    with services.engine.connect() as looker:
        return len(looker.execute(select(OrderRow.id)).all())


def on_postgresql(services: Services) -> bool:
    return services.engine.dialect.name == "postgresql"
