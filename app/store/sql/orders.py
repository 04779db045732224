"""Orders in the database: the table, and the queries on it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from itertools import islice
from typing import Any, NamedTuple, cast

from sqlalchemy import BigInteger, DateTime, Index, String, Table, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from app.domain import Order
from app.store.sql import bulk

AT_ONCE = 1_000  # rows of one look at many
FIELDS = [field.name for field in fields(Order)]


class Base(DeclarativeBase):
    pass


class OrderColumns:
    """Columns that are named as in domain.Order."""

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    item: Mapped[str] = mapped_column(String(32))
    round: Mapped[int]
    quantity: Mapped[int]
    price: Mapped[int]
    buyer: Mapped[str] = mapped_column(String(36))
    key: Mapped[str] = mapped_column(String(128))
    at: Mapped[int] = mapped_column(BigInteger)
    request: Mapped[str] = mapped_column(String(64), server_default="")

    def order(self) -> Order:
        return Order(*(getattr(self, name) for name in FIELDS))


class OrderRow(OrderColumns, Base):
    """One durable order; `confirmed` is when the row was written.

    The idempotency key is indexed but not unique (the receipts' key is): exhibits sell twice under
    one key, and the audit must be able to see it.
    """

    __tablename__ = "orders"

    confirmed: Mapped[datetime] = mapped_column(DateTime(timezone=True), sort_order=1)  # last

    __table_args__ = (
        # With the quantity, the index has all that an audit counts, in the order of the keys.
        Index("orders_by_round", "item", "round", "key", "quantity"),
        Index("orders_by_buyer", "buyer", "at"),
    )


TABLE = cast(Table, OrderRow.__table__)
INSERTED = dict(zip(FIELDS, FIELDS, strict=True)) | {"confirmed": bulk.NOW}

# The columns' limits: characters, and bits without the sign.
COLUMNS = {name: TABLE.c[name].type for name in FIELDS}
LONGEST = {name: kind.length or 0 for name, kind in COLUMNS.items() if isinstance(kind, String)}
BITS = {
    name: 63 if isinstance(kind, BigInteger) else 31
    for name, kind in COLUMNS.items()
    if name not in LONGEST
}


def look(session: Session) -> None:
    """Read the table; SQLite answers a plain SELECT 1 without a look at its file."""
    session.execute(select(OrderRow.id).limit(1))


def row(order: Order) -> dict[str, Any]:
    """Return the order's columns, confirmed now."""
    return {name: getattr(order, name) for name in FIELDS} | {"confirmed": datetime.now(UTC)}


def misfit(order: Order) -> str:
    """Return why no database of ours takes this order; "" when it fits.

    The database is not asked: SQLite would take a text that is too long, and lose a number that is
    too large.
    """
    for name, limit in LONGEST.items():
        text = getattr(order, name)
        if len(text) > limit:
            return f"Its {name} has {len(text)} characters; {limit} are the most."
        if "\0" in text:
            return f"Its {name} has a character that no database takes (NUL)."
    for name, bits in BITS.items():
        number = getattr(order, name)
        if number.bit_length() > bits:
            return f"Its {name} is too large a number: {number}."
    return ""


def insert_missing(session: Session, orders: Sequence[Order]) -> None:
    """Insert the orders that are not there yet. The same batch may come again after a crash.

    Only an order of the same id is left alone. Any other conflict is an IntegrityError: to ignore
    it would be to lose a sale.
    """
    bulk.insert_missing(session, TABLE, INSERTED, orders)


def find(session: Session, id: str) -> Order | None:
    """Return the booked order of that id, or None."""
    row = session.get(OrderRow, id)
    return row.order() if row else None


def of_buyer(session: Session, buyer: str, most: int) -> list[Order]:
    """Return the buyer's newest orders, newest first."""
    query = select(OrderRow).where(OrderRow.buyer == buyer).order_by(OrderRow.at.desc()).limit(most)
    return [row.order() for row in session.scalars(query)]


def since(
    session: Session, item: str, moment: int, round: int | None = None
) -> Iterator[list[Order]]:
    """Yield the orders of an item or a round that were bought at `moment` or later, in parts.

    `moment` is in ms since 1970.
    """
    columns = [getattr(OrderRow, name) for name in FIELDS]
    query = select(*columns).where(OrderRow.item == item, OrderRow.at >= moment)
    if round is not None:
        query = query.where(OrderRow.round == round)
    for some in session.execute(query).yield_per(AT_ONCE).partitions():
        yield [Order(*row) for row in some]


def which(session: Session, ids: Collection[str]) -> set[str]:
    """Return the ids that are booked, in any round."""
    queries = [select(OrderRow.id).where(OrderRow.id.in_(some)) for some in batched(ids)]
    return {id for query in queries for id in session.scalars(query)}


def units_of_round(session: Session, item: str, round: int) -> int:
    """Return the units in all orders of a round."""
    conditions = OrderRow.item == item, OrderRow.round == round
    return session.scalar(select(func.sum(OrderRow.quantity)).where(*conditions)) or 0


def rounds(session: Session, item: str, since: int) -> list[int]:
    """Return the numbers of the rounds that have orders, from `since` on."""
    conditions = OrderRow.item == item, OrderRow.round >= since
    return list(session.scalars(select(OrderRow.round).where(*conditions).distinct()))


def counts(session: Session, item: str, numbers: Collection[int]) -> dict[int, int]:
    """Return how many orders each of these rounds has; a round without orders is left out."""
    conditions = OrderRow.item == item, OrderRow.round.in_(numbers)
    query = select(OrderRow.round, func.count()).where(*conditions).group_by(OrderRow.round)
    return {row[0]: row[1] for row in session.execute(query)}


class OrderLine(NamedTuple):
    """The part of an order that is counted."""

    id: str
    quantity: int
    key: str


class Booked(NamedTuple):
    """Figures of some orders."""

    orders: int = 0
    units: int = 0
    keys: int = 0  # different ones


def count(session: Session, item: str, round: int) -> Booked:
    """Count all orders of a round. The database groups them along its index, not in memory."""
    conditions = OrderRow.item == item, OrderRow.round == round
    of_key = (
        select(func.count().label("orders"), func.sum(OrderRow.quantity).label("units"))
        .where(*conditions)
        .group_by(OrderRow.key)
        .subquery()
    )
    sums = func.sum(of_key.c.orders), func.sum(of_key.c.units), func.count()
    orders, units, keys = session.execute(select(*sums).select_from(of_key)).one()
    return Booked(int(orders or 0), int(units or 0), keys)


def sharing(
    session: Session, item: str, round: int, ids: Collection[str], keys: Collection[str]
) -> dict[str, OrderLine]:
    """Return a round's orders with one of these ids or keys, by their ids."""
    lines = {}
    columns = OrderRow.id, OrderRow.quantity, OrderRow.key, OrderRow.item, OrderRow.round
    # By id alone: with the round, SQLite would read all of its rows.
    queries = [select(*columns).where(OrderRow.id.in_(some)) for some in batched(ids)]
    conditions = OrderRow.item == item, OrderRow.round == round
    of_keys = select(*columns).where(*conditions)
    queries += [of_keys.where(OrderRow.key.in_(some)) for some in batched(keys)]
    for query in queries:
        for id, quantity, key, *where in session.execute(query):
            if where == [item, round]:
                lines[id] = OrderLine(id, quantity, key)
    return lines


def batched(values: Collection[str]) -> Iterator[list[str]]:
    """Yield the values in lists of up to AT_ONCE: databases limit the number of parameters."""
    rest = iter(values)
    while some := list(islice(rest, AT_ONCE)):
        yield some


def of_round(session: Session, item: str, round: int) -> list[OrderLine]:
    """Return all orders of a round."""
    query = select(OrderRow.id, OrderRow.quantity, OrderRow.key).where(
        OrderRow.item == item, OrderRow.round == round
    )
    return [OrderLine(*row) for row in session.execute(query)]
