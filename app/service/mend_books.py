"""What the books know of rounds of which store or database has lost something, and what the store
still knows of the books."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import redis
from sqlalchemy.orm import Session, sessionmaker

from app.domain import Order, Round
from app.modes import Way
from app.service.booking import book
from app.store import begun, db, lacks, orders, sales, sql_holds, stock
from app.store import rounds as records
from app.store.redis import answering

Row = tuple[str, int, str]  # an order: its id, its units, its key


class Lost(NamedTuple):
    """Orders that the database lost. `back` are those that the store still knows.

    `rounds` are theirs, by number; `gone` says of each how many orders nobody knows.
    """

    back: list[Order]
    rounds: dict[int, Round]
    gone: dict[int, int]


class MendBooks:
    """Each method raises DatabaseAway."""

    def __init__(self, store: redis.Redis, sessions: sessionmaker[Session]) -> None:
        self.store = store
        self.sessions = sessions

    def rounds(self, item: str, since: int) -> tuple[dict[int, Round], list[int]]:
        """Those that are known from that number on, and the numbers of those that have orders.

        Raises Unreadable.
        """
        with db.answering(), self.sessions() as session:
            return begun.rounds(session, item, since), orders.rounds(session, item, since)

    def lost(self, item: str, since: int) -> Lost:
        """Orders that the database has confirmed and does not have, of rounds from that number on.

        Raises StoreAway, Unreadable.
        """
        with answering():
            confirmed = lacks.booked(self.store, item)
        with db.answering(), answering(), self.sessions() as session:
            has = orders.counts(session, item, [each for each in confirmed if each >= since])
            short = {
                number: count - has.get(number, 0)
                for number, count in sorted(confirmed.items())
                if number >= since and count > has.get(number, 0)
            }
            found = [
                records.find(self.store, item, number) or begun.round(session, item, number)
                for number in {since, *short}
            ]
            rounds = {round.number: round for round in found if round}
            kept = list(sales.let_go_of(self.store, item, rounds)) if rounds else []
            there = orders.which(session, [order.id for order in kept])
        back = [order for order in kept if order.id not in there]
        of_round = Counter(order.round for order in back)
        gone = {number: max(0, count - of_round[number]) for number, count in short.items()}
        return Lost(back, rounds, gone)

    def bring_back(self, lost: Lost) -> None:
        """Book them again, and let no more be left of a round than there are."""
        for number, round in lost.rounds.items():
            its = [order for order in lost.back if order.round == number]
            for first in range(0, len(its), orders.AT_ONCE):
                some = its[first : first + orders.AT_ONCE]
                book(self.sessions, {order.id.encode(): order for order in some}, round.mode)
            with db.answering(), self.sessions.begin() as session:
                begun.keep(session, round)
                unstocked = its or stock.left(session, round) is None
                way = Way.of(round.mode)
                if unstocked and way.in_database and not way.in_rows:
                    held = sql_holds.of_round(session, round.item, number)
                    taken = orders.units_of_round(session, round.item, number)
                    taken += sum(order.quantity for order in held)
                    stock.mend(session, round, max(0, round.stock - taken))

    def of_round(
        self, item: str, number: int, told: Sequence[Order]
    ) -> tuple[Sequence[Row], list[Order | None]]:
        """Its orders; and of each sale of which a buyer was told, what its key has bought."""
        with db.answering(), self.sessions() as session:
            rows = orders.of_round(session, item, number)
            return rows, [stock.bought(session, item, order.key) for order in told]
