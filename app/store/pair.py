"""The identities of store and database, and the name that each of them has for the other.

A store has an identity for each item, so that on a cluster it is in the item's slot. A database has
one, which copies and restored backups of it keep.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import redis
from sqlalchemy import String, select
from sqlalchemy.orm import Mapped, Session, mapped_column, sessionmaker

from app.domain import Round, Unreadable
from app.store import keys, rounds
from app.store.sql.begun_rounds import BegunRow, RoundRow
from app.store.sql.bulk import insert
from app.store.sql.orders import Base
from app.store.sql.stock import StockRow

NEWEST = 20  # rounds of the database that are looked for in a store


class IdentityRow(Base):
    """The only row says which database this is."""

    __tablename__ = "identity"

    row: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(String(32))


@dataclass(frozen=True, slots=True)
class PairSide:
    """Store or database, for one item: its identity, and the name that it has for the other.

    `id` and `partner` are "" before they are paired. `round` is the newest that it knows; 0: none.
    """

    id: str
    partner: str
    round: int


class Pair(NamedTuple):
    """Both sides of one item."""

    store: PairSide
    database: PairSide


def store_side(store: redis.Redis, item: str) -> PairSide:
    """Read the store's side in one round trip."""
    names = keys.identity(item), keys.database(item), keys.newest(item)
    replies: list[Any] = store.mget(names)
    id, partner, newest = replies
    return PairSide((id or b"").decode(), (partner or b"").decode(), int(newest or 0))


def database_side(session: Session, item: str) -> PairSide:
    """Read the database's side in one statement; `round` is the newest that was noted as begun."""
    of_item = BegunRow.item == item
    id, partner, round = session.execute(
        select(
            select(IdentityRow.id).scalar_subquery(),
            select(BegunRow.store).where(of_item).scalar_subquery(),
            select(BegunRow.round).where(of_item).scalar_subquery(),
        )
    ).one()
    return PairSide(id or "", partner or "", round or 0)


def name(store: redis.Redis, sessions: sessionmaker[Session], item: str, replace: bool) -> Pair:
    """Give both an identity, and each the other's name, unless it has them; the first caller wins.

    With `replace` each side gets the name, even if it has another one.
    """
    with sessions.begin() as session:
        made = {"row": 1, "id": secrets.token_hex(8)}
        session.execute(insert(session, IdentityRow).values(made).on_conflict_do_nothing())
        id = session.scalars(select(IdentityRow.id)).one()
    pipe = store.pipeline()
    pipe.set(keys.identity(item), secrets.token_hex(8), nx=True)
    pipe.set(keys.database(item), id, nx=not replace)
    pipe.execute()
    side = store_side(store, item)
    with sessions.begin() as session:
        if side.partner == id:  # else another host was faster, with another database
            row = {"item": item, "round": 0, "store": side.id}
            free = None if replace else BegunRow.store == ""
            session.execute(
                insert(session, BegunRow)
                .values(row)
                .on_conflict_do_update(
                    index_elements=[BegunRow.item], set_={"store": side.id}, where=free
                )
            )
        return Pair(side, database_side(session, item))


def share_a_round(store: redis.Redis, session: Session) -> bool:
    """Return whether any round was begun in both. Equal numbers prove nothing: both begin at 1."""
    newest = select(RoundRow.record).order_by(RoundRow.round.desc()).limit(NEWEST)
    stocked = select(StockRow.item, StockRow.round, StockRow.started)
    stocked = stocked.order_by(StockRow.started.desc()).limit(NEWEST)
    known = {(row[0], row[1], row[2]) for row in session.execute(stocked)}
    for record in session.scalars(newest):
        with suppress(Unreadable):
            begun = Round.decode(record)
            known.add((begun.item, begun.number, begun.started))
    for item, number, started in known:
        with suppress(Unreadable):
            round = rounds.find(store, item, number)
            if round and round.started == started:
                return True
    return False
