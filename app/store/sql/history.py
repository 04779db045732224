"""Runs and comparisons in the database, where they outlive the store."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import BigInteger, Index, String, Text, literal, select, union_all
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.store.sql.orders import Base

RUN, COMPARISON = "run", "comparison"


class RunRow(Base):
    """A run that has ended. `record` is the service's Run, `events` a list of them, as JSON."""

    __tablename__ = "runs"

    id: Mapped[str] = mapped_column(String(48), primary_key=True)
    item: Mapped[str] = mapped_column(String(32))
    mode: Mapped[str] = mapped_column(String(64))
    started: Mapped[int] = mapped_column(BigInteger)  # ms since 1970
    how: Mapped[str] = mapped_column(String(16))
    record: Mapped[str] = mapped_column(Text)
    events: Mapped[str] = mapped_column(Text)
    comparison: Mapped[str] = mapped_column(String(48), default="")  # id of its comparison

    __table_args__ = (Index("runs_by_start", "started"),)


class ComparisonRow(Base):
    """A comparison that has ended. `record` is the service's Comparison, as JSON."""

    __tablename__ = "comparisons"

    id: Mapped[str] = mapped_column(String(48), primary_key=True)
    started: Mapped[int] = mapped_column(BigInteger)  # ms since 1970
    record: Mapped[str] = mapped_column(Text)

    __table_args__ = (Index("comparisons_by_start", "started"),)


def save(session: Session, row: RunRow | ComparisonRow) -> None:
    """Insert or replace the row."""
    session.merge(row)


def latest(session: Session, most: int) -> list[str]:
    """Return the records of up to `most` runs that are no part of a comparison, newest first."""
    alone = select(RunRow.record).where(RunRow.comparison == "")
    return list(session.scalars(alone.order_by(RunRow.started.desc()).limit(most)))


class HistoryEntry(NamedTuple):
    """One entry of the history, its record not yet decoded."""

    kind: str  # COMPARISON, RUN
    record: str


def page(session: Session, first: int, most: int) -> list[HistoryEntry]:
    """Return `most` entries after the `first`, newest first.

    Entries are comparisons, and runs that are no part of one.
    """
    runs = select(RunRow.id, RunRow.started, literal(RUN).label("kind"), RunRow.record)
    both = union_all(
        runs.where(RunRow.comparison == ""),
        select(
            ComparisonRow.id,
            ComparisonRow.started,
            literal(COMPARISON).label("kind"),
            ComparisonRow.record,
        ),
    ).subquery()
    newest = select(both.c.kind, both.c.record).order_by(both.c.started.desc(), both.c.id)
    return [HistoryEntry(*row) for row in session.execute(newest.offset(first).limit(most))]
