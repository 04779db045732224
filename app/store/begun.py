"""How far each item has come by what the books know: a store is held against that."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import String, func, inspect, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.store.orders import Base, OrderRow


class BegunRow(Base):
    """The newest round that was begun of an item, and in which store (its id; "" if unknown)."""

    __tablename__ = "begun"

    item: Mapped[str] = mapped_column(String(32), primary_key=True)
    round: Mapped[int]
    store: Mapped[str] = mapped_column(String(32))


@dataclass(frozen=True, slots=True)
class Seen:
    """`round` is the newest with an order, or begun; 0: none. `orders` are its own."""

    round: int = 0
    orders: int = 0
    store: str = ""


def seen(session: Session, item: str) -> Seen:
    """Nothing by a database that was never migrated."""
    if not inspect(session.connection()).has_table(BegunRow.__tablename__):
        return Seen()
    row = session.get(BegunRow, item)
    ordered = session.scalar(select(func.max(OrderRow.round)).where(OrderRow.item == item)) or 0
    newest = max(ordered, row.round if row else 0)
    there = OrderRow.item == item, OrderRow.round == newest
    orders = session.scalar(select(func.count()).select_from(OrderRow).where(*there)) or 0
    return Seen(newest, orders, row.store if row else "")


def note(session: Session, item: str, round: int, store: str) -> None:
    """That this round was begun in that store; unless it is known that a newer one was."""
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    row = {"item": item, "round": round, "store": store}
    wanted = dialect.insert(BegunRow).values(row)
    session.execute(
        wanted.on_conflict_do_update(
            index_elements=[BegunRow.item], set_=row, where=BegunRow.round <= round
        )
    )
