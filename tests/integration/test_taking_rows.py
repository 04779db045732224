"""A row's permanent errors and passing ones, by the databases' own messages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError

from app.domain import DatabaseAway
from app.store.sql import db

TABLE = "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER NOT NULL CHECK (n < 9), name VARCHAR(3))"
TAKEN = "INSERT INTO t VALUES (1, 1, 'a')"


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """An engine with a short patience, and a table with one row."""
    engine = db.engine(database_url, 200)
    db.migrate(engine)
    with engine.begin() as connection:
        connection.execute(text(TABLE))
        connection.execute(text(TAKEN))
    yield engine
    engine.dispose()


def write(engine: Engine, statement: str, before: str = "") -> None:
    with db.taking_rows(), engine.begin() as connection:
        if before:
            connection.execute(text(before))
        connection.execute(text(statement))


@pytest.mark.parametrize(
    "statement",
    [
        TAKEN,  # the id again
        "INSERT INTO t VALUES (2, NULL, 'a')",
        "INSERT INTO t VALUES (2, 9, 'a')",
    ],
)
def test_a_constraint_is_for_good(engine: Engine, statement: str) -> None:
    with pytest.raises(db.RowsRefused):
        write(engine, statement)


def test_a_database_that_answers_with_a_constraint_is_not_away(engine: Engine) -> None:
    with pytest.raises(IntegrityError), db.answering(), engine.begin() as connection:
        connection.execute(text(TAKEN))


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO t VALUES (2, 2, 'long')",
        "INSERT INTO t VALUES (2, 99999999999, 'a')",
        "INSERT INTO t VALUES (2, 1 / 0, 'a')",
        "INSERT INTO t VALUES (2, 2, chr(0))",  # a limit, as PostgreSQL calls it
    ],
)
def test_so_is_a_value_that_the_server_does_not_take(engine: Engine, statement: str) -> None:
    with pytest.raises(db.RowsRefused):
        write(engine, statement)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("value", ["a\0b", object()])
def test_so_is_one_that_the_driver_does_not_send(engine: Engine, value: object) -> None:
    with pytest.raises(db.RowsRefused), db.taking_rows(), engine.begin() as connection:
        connection.execute(text("INSERT INTO t VALUES (2, 2, :value)"), {"value": value})


@pytest.mark.parametrize(
    "statement",
    ["INSERT INTO gone VALUES (2)", "INSERT INTO t (id, gone) VALUES (2, 2)", "INSERT INTO t"],
)
def test_what_is_wrong_with_the_tables_is_no_rows_fault(engine: Engine, statement: str) -> None:
    with pytest.raises(DatabaseAway):
        write(engine, statement)


def test_a_lock_passes(engine: Engine) -> None:
    with engine.begin() as other:
        other.execute(text("INSERT INTO t VALUES (2, 2, 'a')"))
        with pytest.raises(DatabaseAway):
            write(engine, "INSERT INTO t VALUES (2, 3, 'b')")


def test_a_database_that_takes_no_writes_passes(engine: Engine) -> None:
    """Read-only, or full: SQLite calls both an operational error, PostgreSQL an internal one."""
    sqlite = engine.dialect.name == "sqlite"
    before = "PRAGMA query_only = on" if sqlite else "SET TRANSACTION READ ONLY"
    with pytest.raises(DatabaseAway):
        write(engine, "INSERT INTO t VALUES (3, 3, 'a')", before)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_full_disk_passes(engine: Engine) -> None:
    with engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(DatabaseAway, match=r"full$"), db.taking_rows():
            connection.execute(text("INSERT INTO t VALUES (3, 3, hex(zeroblob(100000)))"))
