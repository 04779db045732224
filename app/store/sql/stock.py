"""Stock in the database, for the modes that sell there, and the receipts of all booked orders."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import cast

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    String,
    Table,
    and_,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.domain import DatabaseAway, Order, Round
from app.store.sql import bulk, buyers, units
from app.store.sql import holds as sql_holds
from app.store.sql.holds import HoldRow
from app.store.sql.orders import FIELDS, Base, OrderRow


class StockRow(Base):
    """The stock of one round; units that are rows are not counted here (see `units`).

    `started` (the round's, in ms) is part of its primary key: two starters may want the same number
    at once, and rows of a version that counted from 1 again in an emptied store still exist.
    """

    __tablename__ = "stock"

    item: Mapped[str] = mapped_column(String(32), primary_key=True)
    round: Mapped[int] = mapped_column(primary_key=True)
    started: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    units: Mapped[int]
    version: Mapped[int] = mapped_column(default=0)  # rises with every write that checks it
    ended: Mapped[bool] = mapped_column(default=False)


class Receipt(Base):
    """The order that an idempotency key has bought. Unique, and kept forever."""

    __tablename__ = "receipts"

    item: Mapped[str] = mapped_column(String(32), primary_key=True)
    key: Mapped[str] = mapped_column(String(128), primary_key=True)
    order: Mapped[str] = mapped_column(String(36))


RECEIPTS = cast(Table, Receipt.__table__)


def of(round: Round) -> ColumnElement[bool]:
    """Return the condition that selects a round's row."""
    return and_(
        StockRow.item == round.item,
        StockRow.round == round.number,
        StockRow.started == round.started,
    )


def put(session: Session, round: Round, in_rows: bool) -> bool:
    """Stock a new round, `in_rows` with a row for each unit.

    False: another process did, under this number at this very millisecond.
    """
    counted = 0 if in_rows else round.stock
    try:
        session.execute(
            insert(StockRow).values(
                item=round.item, round=round.number, started=round.started, units=counted
            )
        )
    except IntegrityError:
        return False
    if in_rows:
        units.put(session, round)
    return True


def mend(session: Session, round: Round, units: int) -> None:
    """Write the stock of a round that has ended, whether or not it has a row."""
    name = {"item": round.item, "round": round.number, "started": round.started}
    session.merge(StockRow(**name, units=units, version=0, ended=True))


def end(sql: Connection, round: Round) -> None:
    """Stop all sales from it.

    The new version makes sellers that have read the row read it again.
    """
    sql.execute(update(StockRow).where(of(round)).values(ended=True, version=StockRow.version + 1))


def put_back(sql: Connection, round: Round, orders: Sequence[Order], in_rows: bool) -> None:
    """Put the units of ended holds back, in one transaction: each hold's once.

    The new version makes sellers that have read the old number read again. Raises DatabaseAway.
    """
    ids = sql_holds.mark_back(sql, [order.id for order in orders])
    mine = [order for order in orders if order.id in ids]
    if not mine:
        return
    if in_rows:
        units.release(sql, ids)
    else:
        back = StockRow.units + sum(order.quantity for order in mine)
        row = update(StockRow).where(of(round))
        if not sql.execute(row.values(units=back, version=StockRow.version + 1)).rowcount:
            raise DatabaseAway(f"The database has lost round {round.number} of {round.item}.")
    buyers.free(sql, round, mine)


def left(sql: Connection | Session, round: Round) -> int | None:
    """Return the units left, counted or rows; None when they are lost."""
    return sql.scalar(select(StockRow.units + units.free(round)).where(of(round)))


def bought(sql: Connection | Session, item: str, key: str) -> Order | None:
    """Return the order that an idempotency key has bought, or holds, or held."""
    row = sql.execute(
        select(*(func.coalesce(getattr(OrderRow, name), getattr(HoldRow, name)) for name in FIELDS))
        .select_from(Receipt)
        .outerjoin(OrderRow, OrderRow.id == Receipt.order)
        .outerjoin(HoldRow, HoldRow.id == Receipt.order)
        .where(Receipt.item == item, Receipt.key == key)
    ).first()
    return Order(*row) if row and row[0] else None


def hand_receipts(session: Session, item: str, orders: Sequence[Order]) -> dict[str, str]:
    """Give each order of the item its key's receipt; return which orders came too late.

    The result maps the id of a late order to the id of the order that has the receipt. Of two
    orders of one key, in one call or in two transactions at once, the first has it. Receipts are
    written in their keys' order, as two transactions that write the same ones crosswise would wait
    for each other.
    """
    columns = {"item": "item", "key": "key", "order": "id"}
    in_order = sorted(orders, key=attrgetter("key"))
    if bulk.insert_missing(session, RECEIPTS, columns, in_order) == len(orders):
        return {}
    keys = [order.key for order in orders]
    query = select(Receipt.key, Receipt.order).where(Receipt.item == item, Receipt.key.in_(keys))
    whose = {row.key: row.order for row in session.execute(query)}
    return {order.id: whose[order.key] for order in orders if whose[order.key] != order.id}
