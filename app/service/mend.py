"""Mend an item of which the store has lost something: `lastapple audit ITEM --repair`.

Orders that the database lost come back from what the store still knows of them. Then each of the
item's rounds that may have lost something gets its record, its figures and its sales again:
from what is left of them in the store, from the books, and from what workers had told buyers of. It
stays ended. Then the store learns which keys have bought within a day, and only then may the next
round begin: who dies half-way leaves the item off sale, and the next one does the same again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.domain import Lack, Lacking, Mended, Order, Round, ShopError, Stands, StoreAway
from app.modes import Way
from app.service.mend_books import Lost, MendBooks
from app.service.mended_figures import Figures, figures
from app.service.rounds import Rounds
from app.store import dead_letters, lacks, mending
from app.store.redis import answering
from app.store.servers import Servers

RACES = 20  # looks at a round in which fulfil still buries sales before one is told to try again


@dataclass(frozen=True)
class Plan:
    """What would be done, or was. `unknown` are numbers of rounds of which nobody knows the stock;
    `lost` what buyers were told of and cannot come back: holds, and what a key bought twice.
    `orders` are those that the database lost."""

    lack: Lack
    mark: bytes  # the same as it stands in the store
    rounds: list[Figures]
    unknown: list[int]
    lost: list[Order]
    orders: Lost


class Mend:
    def __init__(self, servers: Servers, rounds: Rounds, books: MendBooks | None = None) -> None:
        """`books`: the explorer hands in some that stay as they are."""
        self.books = books or MendBooks(servers.store, servers.sessions)
        self.store = servers.store
        self.rounds = rounds
        self.trust = rounds.trust

    def plan(self, item: str) -> Plan | None:
        """None: it lacks nothing. The item is off sale then, as whenever somebody looks; no more.

        Raises UnknownItem, WrongPair, StoreAway, DatabaseAway; Unreadable when a record is in the
        way that a newer version wrote, or that is broken.
        """
        lack = self.trust.look(item)
        with answering():
            mark = lacks.standing(self.store, item)
        if lack is None or mark is None:
            return None
        with answering():
            told = mending.told(self.store, item)
        known, booked = self.books.rounds(item, lack.since)
        numbers = {*known, *booked, *(order.round for order in told.orders)}
        if lack.since:
            numbers.add(lack.since)
        found = {number: self._figures(item, number, known.get(number), told) for number in numbers}
        rounds = [each for _, each in sorted(found.items()) if each]
        back = {order.id for each in rounds for order in each.written.brought_back}
        there = {id for each in rounds for id in each.there}
        return Plan(
            lack,
            mark,
            rounds,
            sorted(number for number, each in found.items() if each is None),
            [
                order
                for order in told.orders
                if order.id not in back | there
                and told.ended.get(order.id, Stands.PAID) is Stands.PAID
            ],
            self.books.lost(item, lack.since),
        )

    def do(self, item: str) -> Plan | None:
        """As `plan`, and do it. May be done again, and by two at once.

        Raises Lacking when somebody else accepted it, or found something new, meanwhile.
        """
        plan = self.plan(item)
        if plan is None:
            return None
        self.books.bring_back(plan.orders)
        figured = self.plan(item) if plan.orders.back else plan
        done = [self._write(plan.mark, each) for each in figured.rounds] if figured else []
        self.trust.sell_again(plan.lack, plan.mark)
        return replace(plan, rounds=done)

    def _figures(
        self, item: str, number: int, known: Round | None, told: mending.Told
    ) -> Figures | None:
        """None: neither store nor books know its stock."""
        with answering():
            remains = mending.look(self.store, item, number)
            letters = dead_letters.of_round(self.store, item, number)
        round = remains.round or known
        if round is None:
            return None
        ended = round if round.ended else replace(round, ended=self.rounds.now())
        its = [order for order in told.orders if order.round == number]
        ends = [(order, told.ended[order.id]) for order in its if order.id in told.ended]
        over = [(order, stands) for order, stands in ends if stands is not Stands.PAID]
        if round.hold:  # nobody has paid for the others
            its = [order for order, stands in ends if stands is Stands.PAID]
        rows, bought = self.books.of_round(item, number, its)  # after the store: see Auditor
        before = zip(its, bought, strict=True)
        its = [order for order, other in before if other is None or other.id == order.id]
        elsewhere = Way.of(ended.mode).in_database
        kept, dropped = letters.kept, letters.dropped
        return figures(ended, remains, kept, dropped, rows, its, over, elsewhere)

    def _write(self, mark: bytes, wanted: Figures) -> Figures:
        """What was written: looked at anew when fulfil, or who mends it, too, was here since."""
        round = wanted.round
        for _ in range(RACES):
            written = wanted.written
            back = [order.id for order in written.brought_back]
            mended = Mended(wanted.booked, back, written.left, wanted.gone).encode()
            with answering():
                if mending.write(self.store, mark, wanted.remains, written, mended):
                    return wanted
                other = lacks.standing(self.store, round.item)
            if other is None:
                raise ShopError(f"Somebody else has mended {round.item} meanwhile, or accepted it.")
            if other != mark:
                raise Lacking(Lack.decode(other))
            with answering():
                told = mending.told(self.store, round.item)
            wanted = self._figures(round.item, round.number, round, told) or wanted
        raise StoreAway("The store's sales are being moved all the time. Try again.")
