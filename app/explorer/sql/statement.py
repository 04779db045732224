"""One statement of a mode, and whether two statements depend on each other.

Two independent steps may swap their turns unnoticed: so orders that differ in nothing else are one.
Dependence is decided on the safe side, by whole tables.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from app.explorer.sql import statement_text
from app.store.sql.orders import OrderRow
from app.store.sql.stock import Receipt, StockRow
from app.store.sql.units import UnitRow

ROWS = (OrderRow, StockRow, Receipt, UnitRow)  # the tables that a purchase reads and writes
NAMES = "|".join(row.__tablename__ for row in ROWS)
TABLES = re.compile(rf"\b(?:FROM|JOIN|INTO|UPDATE) ({NAMES})\b")
LOCKING = ("FOR UPDATE", "FOR SHARE")
SNAPSHOT = "(snapshot)"  # listed like a table: what a transaction sees from its BEGIN on
NOTHING: frozenset[str] = frozenset()


class Level(StrEnum):
    """PostgreSQL's isolation levels; its READ UNCOMMITTED is READ COMMITTED."""

    READ_COMMITTED = "READ COMMITTED"
    REPEATABLE_READ = "REPEATABLE READ"
    SERIALIZABLE = "SERIALIZABLE"


class Statement(NamedTuple):
    """A statement that a buyer is about to send. `verb`: BEGIN, SELECT, UPDATE, COMMIT …"""

    verb: str
    text: str  # for people
    tables: frozenset[str]
    locks: bool  # it writes, or it is a SELECT … FOR UPDATE or FOR SHARE


def of(sql: str, parameters: object, level: Level) -> Statement:
    """Parse `sql` and `parameters` as they go to the driver."""
    if "set_config" in sql:
        # psycopg sends BEGIN with a transaction's first statement, and of all that go through
        # `Transactions` that is the one that sets the time-outs. There the snapshot is taken, too,
        # from REPEATABLE READ upwards.
        return Statement("BEGIN", f"BEGIN ISOLATION LEVEL {level}", NOTHING, locks=False)
    text = statement_text.statement(sql, parameters)
    verb = text.split(maxsplit=1)[0]
    locks = verb != "SELECT" or any(lock in text for lock in LOCKING)
    return Statement(verb, text, frozenset(TABLES.findall(sql)), locks)


def end(verb: str) -> Statement:
    """Return the statement COMMIT or ROLLBACK."""
    return Statement(verb, verb, NOTHING, locks=False)


class Footprint(NamedTuple):
    """The tables that a step read, locked rows of, and released."""

    looks: frozenset[str] = NOTHING
    locks: frozenset[str] = NOTHING
    ends: frozenset[str] = NOTHING  # locks are released, and writes are visible to all, or undone
    # SERIALIZABLE only, where it matters which transactions overlap:
    reads: frozenset[str] = NOTHING  # tables that the other may be about to write
    leaves: frozenset[str] = NOTHING  # tables that it had read

    def concerns(self, other: Footprint) -> bool:
        """Return whether a swap of the two steps could be noticed."""
        return self._meets(other) or other._meets(self)

    def _meets(self, other: Footprint) -> bool:
        touched = self.looks | self.locks | self.ends
        # A reader's end affects a transaction that begins, writes, or ends after writing.
        heeds = other.locks | other.ends | (other.looks & {SNAPSHOT})
        return bool(
            touched & other.ends or (self.locks | self.reads) & other.locks or self.leaves & heeds
        )


class Transaction:
    """The tables that one buyer's transaction has touched so far."""

    def __init__(self, level: Level) -> None:
        self.level = level
        self.looks: frozenset[str] = NOTHING
        self.locks: frozenset[str] = NOTHING

    def step(self, statement: Statement, failed: bool) -> Footprint:
        """Return one more statement's footprint.

        A failed statement ends the transaction at once.
        """
        looks, locks, ends, leaves = NOTHING, NOTHING, NOTHING, NOTHING
        if statement.verb == "BEGIN" and self.level is not Level.READ_COMMITTED:
            looks = frozenset({SNAPSHOT})
        if statement.locks:
            locks = statement.tables
        else:
            looks |= statement.tables
        self.looks |= looks
        self.locks |= locks
        if failed or statement.verb in ("COMMIT", "ROLLBACK"):
            ends = self.locks | ({SNAPSHOT} if self.locks else NOTHING)
            leaves = self.looks if self.level is Level.SERIALIZABLE else NOTHING
            self.looks = self.locks = NOTHING
        reads = looks if self.level is Level.SERIALIZABLE else NOTHING
        return Footprint(looks, locks, ends, reads, leaves)
