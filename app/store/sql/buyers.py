"""Units of each buyer in a round with a limit, for modes that sell in the database.

A row for each buyer and round, written in the transaction that takes the stock. In a round without
a limit there is no row, and no statement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sqlalchemy import BigInteger, ColumnElement, Connection, String, and_, delete, select, update
from sqlalchemy.orm import Mapped, mapped_column

from app.domain import Order, Outcome, Round, Sale
from app.store.sql.bulk import insert
from app.store.sql.orders import Base


class BuyerRow(Base):
    """`started` is a part of the round's name, as in StockRow."""

    __tablename__ = "buyers"

    item: Mapped[str] = mapped_column(String(32), primary_key=True)
    round: Mapped[int] = mapped_column(primary_key=True)
    started: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    buyer: Mapped[str] = mapped_column(String(36), primary_key=True)
    units: Mapped[int]


class AboveLimit(Exception):
    """Raised when the buyer would have too much; the transaction must be rolled back."""


def count(sql: Connection, round: Round, order: Order) -> None:
    """Count the order's units, if its buyer may have them. Raises AboveLimit.

    Of two transactions for one buyer, the second waits here until the first has ended, and is then
    compared with what that has written.
    """
    if not round.per_buyer:
        return
    first = insert(sql, BuyerRow).values(
        item=round.item,
        round=round.number,
        started=round.started,
        buyer=order.buyer,
        units=order.quantity,
    )
    counted = sql.scalars(
        first.on_conflict_do_update(
            index_elements=BuyerRow.__table__.primary_key,
            set_={"units": BuyerRow.units + order.quantity},
        ).returning(BuyerRow.units)
    ).one()
    if counted > round.per_buyer:
        raise AboveLimit


def free(sql: Connection, round: Round, orders: Iterable[Order]) -> None:
    """Take the orders' units off the counts: they are back in stock.

    Rows are written in the buyers' order, as two transactions that write the same rows crosswise
    would wait for each other.
    """
    back = Counter[str]()
    for order in orders:
        back[order.buyer] += order.quantity
    for buyer in sorted(back) if round.per_buyer else ():
        row, units = _row(round, buyer), BuyerRow.units - back[buyer]
        sql.execute(update(BuyerRow).where(row).values(units=units))
        sql.execute(delete(BuyerRow).where(row, BuyerRow.units <= 0))


def refusal(sql: Connection, round: Round, order: Order, left: int | None) -> Sale | None:
    """Return LIMIT if this order would exceed the buyer's limit; else None."""
    if not round.per_buyer:
        return None
    bought = sql.scalar(select(BuyerRow.units).where(_row(round, order.buyer))) or 0
    if bought + order.quantity <= round.per_buyer:
        return None
    return Sale(Outcome.LIMIT, left=left, bought=bought)


def _row(round: Round, buyer: str) -> ColumnElement[bool]:
    return and_(
        BuyerRow.item == round.item,
        BuyerRow.round == round.number,
        BuyerRow.started == round.started,
        BuyerRow.buyer == buyer,
    )
