"""Transactions that compete for a row: each of their waits ends after the caller's patience."""

from __future__ import annotations

import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.domain import DatabaseAway
from app.store.sql import db

# A PostgreSQL takes 100 connections by default. All workers of the shop together keep
# 80 for selling; the rest is for pages, fulfil, the lab and a person with psql. With
# more than a handful of workers, or a second host, raise its max_connections: readiness says when.
FOR_SELLING = 80
FOR_PAGES = 4  # more for each worker: pages must not wait while all sellers wait for one row

# PostgreSQL's answers that mean "not now": lock time-out, statement time-out (we set it for
# nothing but waiting), deadlock, serialization failure, a transaction that was idle for too long.
NOT_NOW = {"55P03", "57014", "40P01", "40001", "25P03"}
# s that a seller may be idle in its transaction, next to its think time. PostgreSQL then ends the
# transaction: a host that is frozen or cut off must not keep a row from all other hosts.
IDLE_S = 10.0
PAUSE_S = 0.001  # between attempts to lock SQLite's file: a buyer leaves it free as long
SHORTEST = 200  # ms that a statement may always take: at 1 ms it would fail even without contention

SET_LIMITS = text(
    "SELECT set_config('lock_timeout', :lock, true), set_config('statement_timeout', :all, true), "
    "set_config('idle_in_transaction_session_timeout', :idle, true)"
)


_free: weakref.WeakKeyDictionary[Engine, threading.BoundedSemaphore] = weakref.WeakKeyDictionary()


class Contended(DatabaseAway):
    """Other transactions were faster, or held a lock for too long. Nothing was done.

    A seller answers BUSY; for all other callers it is a database that did not answer in time.
    """


def sellers(workers: int, threads: int) -> int:
    """Return how many connections one of `workers` processes needs to sell with `threads` threads.

    One for each thread, as a sale never holds two; but no more than its share of what a PostgreSQL
    has. Sales of one item queue for its row anyway, and more of them waiting there makes none of
    them faster; the others queue here, as long as their patience allows.
    """
    return max(1, min(threads, FOR_SELLING // workers))


class Transactions:
    """At most `most` transactions of one engine at once, in all threads.

    The first caller sets `most`.
    """

    def __init__(self, engine: Engine, most: int = FOR_PAGES) -> None:
        self.engine = engine
        self.free = _free.setdefault(engine, threading.BoundedSemaphore(most))

    @contextmanager
    def begin(self, wait: float, think: float = 0.0) -> Iterator[Connection]:
        """Yield one transaction's connection; wait at most `wait` s for it and then for each lock.

        Its caller may think for `think` s between two statements. Commits at the end of the block;
        any error rolls it back. Raises Contended, IntegrityError as it comes, and DatabaseAway for
        everything else. Raised by the commit, DatabaseAway means that its outcome is unknown.
        """
        wait = max(0.0, wait)
        deadline = time.monotonic() + wait
        if not self.free.acquire(timeout=wait):
            raise Contended("No connection was free.")
        try:
            with _told_apart(), self.engine.begin() as sql:
                _limit(sql, max(0.0, deadline - time.monotonic()), think + IDLE_S)
                yield sql
        finally:
            self.free.release()


def lock_file(sql: Connection, wait: float) -> None:
    """Lock SQLite's file for the transaction that begins; wait at most `wait` s, and retry often.

    SQLite itself retries ever less often, down to ten times a second, and has no queue. So a sweep
    would wait for a minute while 16 buyers buy. Does nothing on PostgreSQL, which has a queue.
    """
    if sql.dialect.name != "sqlite":
        return
    deadline = time.monotonic() + wait
    sql.exec_driver_sql("PRAGMA busy_timeout = 0")
    while True:
        try:
            sql.exec_driver_sql("BEGIN IMMEDIATE")
            return
        except DBAPIError as error:
            if not _not_now(error.orig) or time.monotonic() >= deadline:
                raise
        time.sleep(PAUSE_S)


def _limit(sql: Connection, wait: float, idle: float) -> None:
    """Let no statement of this transaction wait longer for a lock than `wait` s.

    PostgreSQL ends the transaction when no statement came for `idle` s.
    """
    ms = round(wait * 1000)
    if sql.dialect.name == "sqlite":
        sql.exec_driver_sql(f"PRAGMA busy_timeout = {ms}")
    else:
        # A lock's time-out restarts for each place in the queue; the statement's does not.
        # 0 would mean forever.
        from app.store.sql.impatient import Impatient  # psycopg is an extra that may be missing

        connection = sql.connection.driver_connection
        if isinstance(connection, Impatient):
            connection.limit = max(connection.limit, wait + db.FROZEN)
        limits = {"lock": max(1, ms), "all": max(SHORTEST, ms), "idle": round(idle * 1000)}
        sql.execute(SET_LIMITS, {name: str(limit) for name, limit in limits.items()})


@contextmanager
def _told_apart() -> Iterator[None]:
    try:
        yield
    except IntegrityError:
        raise
    except db.NoConnection as error:
        raise Contended(str(error)) from error
    except PoolTimeout as error:
        raise Contended(db.reason(error)) from error
    except DBAPIError as error:
        if _not_now(error.orig):
            raise Contended(db.reason(error)) from error
        raise DatabaseAway(f"The database does not answer: {db.reason(error)}") from error


def _not_now(error: BaseException | None) -> bool:
    if isinstance(error, sqlite3.Error):
        # The low byte is the error, the rest its details.
        return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    return getattr(error, "sqlstate", None) in NOT_NOW
