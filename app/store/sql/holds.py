"""Holds in the database, for the modes that sell there: a row each, settled by conditional UPDATEs.

Their moments are by the store's clock, as all moments are: with SQLite, each process would use its
own clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Index,
    Insert,
    String,
    and_,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.domain import Due, Hold, Order, Round, Stands
from app.domain.holds import OVER
from app.store.sql import orders
from app.store.sql.orders import AT_ONCE, FIELDS, Base, OrderColumns, OrderRow


class HoldRow(OrderColumns, Base):
    """One hold; columns as in Order and Hold of the domain. `back`: its units are in stock."""

    __tablename__ = "holds"

    until: Mapped[int] = mapped_column(BigInteger, sort_order=1)  # after an order's columns
    stands: Mapped[str] = mapped_column(String(9), sort_order=1)
    back: Mapped[bool] = mapped_column(sort_order=1)

    __table_args__ = (
        Index("holds_by_round", "item", "round", "back"),
        Index("holds_by_deadline", "back", "stands", "until"),
    )


# Not in stock and not paid for.
TAKEN = and_(~HoldRow.back, HoldRow.stands != Stands.PAID.value)
# (Named one by one, so that an index finds them.)
OWED = and_(~HoldRow.back, HoldRow.stands.in_([stands.value for stands in OVER]))


def taken(round: Round, order: Order, now: Callable[[], int]) -> Insert:
    """Return the INSERT of a sale: an order, or a hold that is to be paid for."""
    if not round.hold:
        return insert(OrderRow).values(orders.row(order))
    members: dict[str, Any] = {name: getattr(order, name) for name in FIELDS}
    members |= {"until": now() + round.hold, "stands": Stands.HELD.value, "back": False}
    return insert(HoldRow).values(**members)


def settle(sql: Session, order: Order, stands: Stands, now: int) -> Hold | None:
    """Settle a hold in this transaction; None: there is no such hold. Only one caller wins."""
    mine = HoldRow.id == order.id, HoldRow.stands == Stands.HELD.value
    if stands is not Stands.HELD:
        wanted = update(HoldRow).where(*mine, HoldRow.until > now).values(stands=stands.value)
        if _changed(sql, wanted) and stands is Stands.PAID:
            sql.execute(insert(OrderRow).values(orders.row(order)))
    row = sql.get(HoldRow, order.id, populate_existing=True)
    if row and row.stands == Stands.HELD.value and row.until <= now:
        _changed(sql, update(HoldRow).where(*mine).values(stands=Stands.EXPIRED.value))
        row = sql.get(HoldRow, order.id, populate_existing=True)
    if row is None:
        return None
    hold = Hold(order, Stands(row.stands), row.until, now)
    return Hold(order, hold.stands, row.until, now, owed=hold.over and not row.back)


def _changed(sql: Session, wanted: Any) -> bool:
    result: Any = sql.execute(wanted.execution_options(synchronize_session=False))
    return bool(result.rowcount)


def mark_back(sql: Connection, ids: Sequence[str]) -> set[str]:
    """Mark holds as back in stock; return the ids of those that were not marked before.

    Runs in the transaction that puts their units back. Rows are locked in one order, as two
    transactions that lock the same rows crosswise would wait for each other.
    """
    owed = select(HoldRow.id).where(HoldRow.id.in_(ids), TAKEN).order_by(HoldRow.id)
    wanted = update(HoldRow).where(HoldRow.id.in_(owed.with_for_update())).values(back=True)
    return set(sql.scalars(wanted.returning(HoldRow.id)))


def rounds_due(sql: Session, item: str, now: int) -> list[int]:
    """Return the numbers of the item's rounds with holds to expire, or with units to put back."""
    mine = HoldRow.item == item, ~HoldRow.back
    return list(sql.scalars(select(HoldRow.round).where(*mine, or_(_late(now), OWED)).distinct()))


def expire(sql: Session, round: Round, now: int, most: int) -> list[Order]:
    """Expire up to `most` holds past their deadline; return up to `most` whose units are owed."""
    mine = _there(round.item, round.number), ~HoldRow.back
    late = select(HoldRow.id).where(*mine, _late(now)).order_by(HoldRow.until).limit(most)
    wanted = update(HoldRow).where(HoldRow.id.in_(late.with_for_update(skip_locked=True)))
    _changed(sql, wanted.values(stands=Stands.EXPIRED.value))
    query = select(HoldRow).where(*mine, OWED).order_by(HoldRow.until).limit(most)
    return [row.order() for row in sql.scalars(query)]


def _late(now: int) -> ColumnElement[bool]:
    return and_(HoldRow.stands == Stands.HELD.value, HoldRow.until <= now)


def find(sql: Session, id: str) -> Order | None:
    row = sql.get(HoldRow, id)
    return row.order() if row else None


def of_round(sql: Session, item: str, round: int) -> list[Order]:
    """Return the holds with units that are neither in stock nor paid for."""
    return [row.order() for row in sql.scalars(select(HoldRow).where(_there(item, round), TAKEN))]


def next_due(sql: Session, round: Round, now: int, most: int) -> list[Due]:
    """Return up to `most` holds that run out next."""
    query = select(HoldRow).where(_there(round.item, round.number), TAKEN)
    rows = sql.scalars(query.order_by(HoldRow.until).limit(most))
    return [Due(row.order(), row.until - now) for row in rows]


def of_buyer(sql: Session, buyer: str, most: int) -> list[Order]:
    """Return the buyer's newest holds that are not paid for, newest first."""
    mine = HoldRow.buyer == buyer, HoldRow.stands != Stands.PAID.value
    query = select(HoldRow).where(*mine).order_by(HoldRow.at.desc()).limit(most)
    return [row.order() for row in sql.scalars(query)]


def since(sql: Session, item: str, moment: int, round: int | None = None) -> Iterator[list[Order]]:
    """Yield unpaid holds taken at `moment` (ms since 1970) or later, in parts."""
    query = select(HoldRow).where(HoldRow.item == item, HoldRow.at >= moment)
    query = query.where(HoldRow.stands != Stands.PAID.value)
    if round is not None:
        query = query.where(HoldRow.round == round)
    for some in sql.scalars(query).yield_per(AT_ONCE).partitions():
        yield [row.order() for row in some]


def _there(item: str, round: int) -> ColumnElement[bool]:
    return and_(HoldRow.item == item, HoldRow.round == round)
