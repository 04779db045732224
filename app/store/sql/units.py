"""Units of stock as rows, one for each: for the mode that locks single units (`sql_units`)."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Index,
    ScalarSelect,
    String,
    and_,
    func,
    insert,
    literal,
    select,
    text,
    true,
    union_all,
    update,
)
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.domain import Round
from app.store.sql.holds import TAKEN, HoldRow
from app.store.sql.orders import Base, OrderRow

MOST = 100_000  # units of a round: all are written before it begins, which takes about a second
AT_ONCE = 10_000  # units in one statement, so that none takes as long as it may at most
FREE = '"order" IS NULL'
TAKEN_UNITS = '"order" IS NOT NULL'


class UnitRow(Base):
    """The `n`-th unit of its round, whose key is as in StockRow. `order`: the id of its order."""

    __tablename__ = "units"

    item: Mapped[str] = mapped_column(String(32), primary_key=True)
    round: Mapped[int] = mapped_column(primary_key=True)
    started: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    n: Mapped[int] = mapped_column(primary_key=True)
    order: Mapped[str | None] = mapped_column(String(36))

    # A search for a free unit must not read all that are sold.
    __table_args__ = (
        Index(
            "units_free",
            *("item", "round", "started", "n"),
            postgresql_where=text(FREE),
            sqlite_where=text(FREE),
        ),
        # A sweep finds the units of its holds, however many units their round has.
        Index(
            "units_by_order",
            "order",
            postgresql_where=text(TAKEN_UNITS),
            sqlite_where=text(TAKEN_UNITS),
        ),
    )


def of(round: Round) -> ColumnElement[bool]:
    """Return the condition that selects a round's rows."""
    return and_(
        UnitRow.item == round.item,
        UnitRow.round == round.number,
        UnitRow.started == round.started,
    )


def put(session: Session, round: Round) -> None:
    """Insert a row for each unit of a new round. On PostgreSQL."""
    for first in range(1, round.stock + 1, AT_ONCE):
        numbers = func.generate_series(first, min(first + AT_ONCE - 1, round.stock))
        rows = select(
            literal(round.item), literal(round.number), literal(round.started, BigInteger), numbers
        )
        session.execute(insert(UnitRow).from_select(["item", "round", "started", "n"], rows))


def free(round: Round) -> ScalarSelect[int]:
    """Count the units without an order, including those that a buyer has locked."""
    rows = select(func.count()).select_from(UnitRow).where(of(round), UnitRow.order.is_(None))
    return rows.scalar_subquery()


def release(sql: Connection, orders: Iterable[str]) -> None:
    """Make the units of these orders free again.

    Their ids are unique in all rounds. Until PostgreSQL has analyzed a new round's rows, it would
    rather read all of them: by the primary key, if the condition named the round, or in sequence.
    """
    sql.execute(text("SET LOCAL enable_seqscan = off"))
    sql.execute(update(UnitRow).where(UnitRow.order.in_(orders)).values(order=None))


def astray(session: Session, round: Round) -> int:
    """Count the units whose owner is not the one that the round's orders and holds name."""
    taken = select(UnitRow.order.label("id"), func.count().label("units"))
    signed = [taken.where(of(round), UnitRow.order.is_not(None)).group_by(UnitRow.order)]
    for kind, which in ((OrderRow, true()), (HoldRow, TAKEN)):
        its = select(kind.id, -kind.quantity)
        signed.append(its.where(kind.item == round.item, kind.round == round.number, which))
    every = union_all(*signed).subquery()
    of_order = select(func.sum(every.c.units).label("units")).group_by(every.c.id).subquery()
    return int(session.scalar(select(func.sum(func.abs(of_order.c.units)))) or 0)
