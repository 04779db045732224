"""What the books know of rounds of which the store has lost something, for whoever mends them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session, sessionmaker

from app.domain import Order, Round
from app.store import begun, db, orders, stock

Row = tuple[str, int, str]  # an order: its id, its units, its key


class MendBooks:
    """Each method raises DatabaseAway."""

    def __init__(self, sessions: sessionmaker[Session]) -> None:
        self.sessions = sessions

    def rounds(self, item: str, since: int) -> tuple[dict[int, Round], list[int]]:
        """Those that are known from that number on, and the numbers of those that have orders.

        Raises Unreadable.
        """
        with db.answering(), self.sessions() as session:
            return begun.rounds(session, item, since), orders.rounds(session, item, since)

    def of_round(
        self, item: str, number: int, told: Sequence[Order]
    ) -> tuple[Sequence[Row], list[Order | None]]:
        """Its orders; and of each sale of which a buyer was told, what its key has bought."""
        with db.answering(), self.sessions() as session:
            rows = orders.of_round(session, item, number)
            return rows, [stock.bought(session, item, order.key) for order in told]
