"""Rounds in the database, as they began: they prove and repair losses of the store."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import String, Text, func, inspect, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.domain import Round
from app.store.sql.bulk import insert
from app.store.sql.orders import Base, OrderRow


class BegunRow(Base):
    """The newest round that was begun of an item, and its store's id ("" if unknown)."""

    __tablename__ = "begun"

    item: Mapped[str] = mapped_column(String(32), primary_key=True)
    round: Mapped[int]
    store: Mapped[str] = mapped_column(String(32))


class RoundRow(Base):
    """A round as it began. There is no row for a round that began while the database was away."""

    __tablename__ = "rounds"

    item: Mapped[str] = mapped_column(String(32), primary_key=True)
    round: Mapped[int] = mapped_column(primary_key=True)
    record: Mapped[str] = mapped_column(Text)


@dataclass(frozen=True, slots=True)
class Seen:
    """The newest round that the database knows: with an order, or begun; 0: none.

    `orders` counts its orders.
    """

    round: int = 0
    orders: int = 0
    store: str = ""


def seen(session: Session, item: str) -> Seen:
    """Return the newest round with an order, or begun; none in an empty database."""
    if not inspect(session.connection()).has_table(BegunRow.__tablename__):
        return Seen()
    row = session.get(BegunRow, item)
    ordered = session.scalar(select(func.max(OrderRow.round)).where(OrderRow.item == item)) or 0
    newest = max(ordered, row.round if row else 0)
    conditions = OrderRow.item == item, OrderRow.round == newest
    orders = session.scalar(select(func.count()).select_from(OrderRow).where(*conditions)) or 0
    return Seen(newest, orders, row.store if row else "")


def note(session: Session, item: str, round: int, store: str) -> None:
    """Note that this round began in that store, unless a newer one is noted."""
    row = {"item": item, "round": round, "store": store}
    wanted = insert(session, BegunRow).values(row)
    session.execute(
        wanted.on_conflict_do_update(
            index_elements=[BegunRow.item], set_=row, where=BegunRow.round <= round
        )
    )


def keep(session: Session, round: Round) -> None:
    """Keep a round's record, for a store that may lose it."""
    row = {"item": round.item, "round": round.number, "record": round.encode().decode()}
    session.execute(insert(session, RoundRow).values(row).on_conflict_do_nothing())


def round(session: Session, item: str, number: int) -> Round | None:
    """Return a round as it began; None: it is not known. Raises Unreadable."""
    row = session.get(RoundRow, (item, number))
    return Round.decode(row.record) if row else None


def rounds(session: Session, item: str, since: int) -> dict[int, Round]:
    """Return rounds from the number `since` on, by their numbers. Raises Unreadable."""
    if not inspect(session.connection()).has_table(RoundRow.__tablename__):
        return {}
    query = select(RoundRow).where(RoundRow.item == item, RoundRow.round >= since)
    return {row.round: Round.decode(row.record) for row in session.scalars(query)}
