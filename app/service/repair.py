"""Repair an item of which the store has lost something: `lastapple audit ITEM --repair`.

First, orders that the database lost are restored from the store. Then each round of the item that
may be damaged gets its record, its figures and its sales again. They come from the store's
remains, from the books, and from the sales that workers had answered. The round stays ended. Then
the store gets the keys that have bought within a day. Only then may the next round begin: a repair
that dies half-way leaves the item off sale, and the next repair does the same steps again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from app.domain import Lack, Lacking, Mended, Order, Round, ShopError, Stands, StoreAway
from app.service.booking import book
from app.service.ledgers import Ledgers
from app.service.rounds import Rounds
from app.store import dead_letters, loss_marks, round_repair, sales
from app.store import rounds as records
from app.store.clients.redis import answering
from app.store.dead_letters import Letters
from app.store.round_repair import EndedHold, Remains, Written
from app.store.servers import Servers
from app.store.sql import begun_rounds, db, orders, stock
from app.store.sql.orders import OrderLine

RACES = 20  # looks at a round in which fulfil still buries sales, before the repair gives up


@dataclass(frozen=True)
class Evidence:
    """All that is still known of a round that has lost data.

    `witnessed` are sales that workers have confirmed to buyers; in a round with holds, paid ones.
    `over` are holds that were given back or ran out, as workers have told their buyers.
    """

    round: Round  # it has ended
    in_store: bool  # that is where it sold
    remains: Remains  # in the store
    letters: Letters
    rows: Sequence[OrderLine]  # its orders
    witnessed: Sequence[Order]
    over: Sequence[EndedHold]


@dataclass(frozen=True)
class RoundFigures:
    """A round's counts, recomputed. All are units, except `booked` (orders) and `waiting`.

    `waiting` are sales in the stream that are no orders yet. `gone`: the store knew nothing of the
    round. `known_ids` are the ids of all sales and holds in store or database.
    """

    remains: Remains
    written: Written
    gone: bool
    booked: int
    waiting: int
    sold: int
    held: int
    known_ids: frozenset[str]

    @property
    def round(self) -> Round:
        return self.written.round


def figures(evidence: Evidence) -> RoundFigures:
    """Recompute a damaged round's counts from every surviving record."""
    round, remains, letters = evidence.round, evidence.remains, evidence.letters
    waiting = sales.readable(round, remains.payloads)
    dead = sales.readable(round, letters.still_sold)
    buried = {
        order.id for order in sales.readable(round, [each.sale for each in letters.remaining])
    }
    units = {row.id: row.quantity for row in evidence.rows}
    units |= {order.id: order.quantity for order in (*waiting, *dead)}
    keys = {row.key for row in evidence.rows} | {order.key for order in (*waiting, *dead)}
    known = units.keys() | buried
    back = [
        order for order in evidence.witnessed if order.id not in known and order.key not in keys
    ]
    back = back if evidence.in_store else []
    ends = {each.order.id: each.stands for each in evidence.over if each.order.id not in buried}
    ends |= dict.fromkeys([*units, *(order.id for order in back)], Stands.PAID)
    ended, held = list[EndedHold](), dict[str, int]()
    for taken in remains.taken:
        for order in sales.readable(round, [taken.sale]):
            if order.id in ends:
                ended.append(EndedHold(taken.entry, order, ends[order.id]))
            else:
                held[order.id] = order.quantity
    returned = sum(each.order.quantity for each in ended if each.stands is not Stands.PAID)
    if round.hold:  # the hold itself is lost, too, or has ended in another way since
        entered = {each.order.id for each in ended}
        lost = [*back, *(each.order for each in evidence.over if each.order.id in ends)]
        ended += [EndedHold("", order, ends[order.id]) for order in lost if order.id not in entered]
    sold = sum(units.values()) + sum(order.quantity for order in back)
    # Never more than the store says: units that were missing before stay missing.
    left = max(0, round.stock - sold - sum(held.values()))
    left = left if remains.left is None else min(left, remains.left + returned)
    unread = len(remains.payloads) - len(waiting)
    others = len(letters.remaining) - len(dead) + letters.dropped
    recorded = max(remains.recorded + len(back), len(units) + len(back) + unread + others)
    return RoundFigures(
        remains=remains,
        written=Written(round, left if evidence.in_store else None, recorded, back, ended),
        gone=remains.round is None,
        booked=len(evidence.rows),
        waiting=len({order.id for order in waiting} - {row.id for row in evidence.rows}),
        sold=sold,
        held=sum(held.values()),
        known_ids=frozenset(known | held.keys()),
    )


class Lost(NamedTuple):
    """The orders that the database lost. The store still knows those in `back`.

    `rounds` are the rounds of `back`, by number. `gone` is, by a round's number, how many orders
    neither database nor store knows.
    """

    back: list[Order]
    rounds: dict[int, Round]
    gone: dict[int, int]


class BookedRounds(NamedTuple):
    """Rounds of an item as they began, by number; and the numbers of those that have orders."""

    begun: dict[int, Round]
    with_orders: list[int]


class BookedOrders(NamedTuple):
    """A round's orders; and, for each sale that a buyer was told of, its key's order."""

    rows: list[OrderLine]
    bought: list[Order | None]


class MendBooks:
    """Reads and repairs of damaged rounds in the database, and the store's counts of orders.

    Each method raises DatabaseAway.
    """

    def __init__(self, servers: Servers, ledgers: Ledgers) -> None:
        self.store = servers.store
        self.sessions = servers.sessions
        self.ledgers = ledgers

    def rounds(self, item: str, since: int) -> BookedRounds:
        """Return the item's rounds from that number on. Raises Unreadable."""
        with db.answering(), self.sessions() as session:
            known = begun_rounds.rounds(session, item, since)
            return BookedRounds(known, orders.rounds(session, item, since))

    def lost(self, item: str, since: int) -> Lost:
        """Return the orders that the database confirmed and lost, of rounds from number `since` on.

        Raises StoreAway, Unreadable.
        """
        with answering():
            confirmed = loss_marks.booked(self.store, item)
        with db.answering(), answering(), self.sessions() as session:
            has = orders.counts(session, item, [each for each in confirmed if each >= since])
            short = {
                number: count - has.get(number, 0)
                for number, count in sorted(confirmed.items())
                if number >= since and count > has.get(number, 0)
            }
            begun = [
                records.find(self.store, item, number) or begun_rounds.round(session, item, number)
                for number in {since, *short}
            ]
            rounds = {round.number: round for round in begun if round}
            remembered = list(sales.let_go_of(self.store, item, rounds)) if rounds else []
            booked_ids = orders.which(session, [order.id for order in remembered])
        back = [order for order in remembered if order.id not in booked_ids]
        of_round = Counter(order.round for order in back)
        gone = {number: max(0, count - of_round[number]) for number, count in short.items()}
        return Lost(back, rounds, gone)

    def bring_back(self, lost: Lost) -> None:
        """Book the lost orders again, and correct what their rounds have left."""
        for number, round in lost.rounds.items():
            its = [order for order in lost.back if order.round == number]
            for first in range(0, len(its), orders.AT_ONCE):
                some = its[first : first + orders.AT_ONCE]
                book(self.sessions, {order.id.encode(): order for order in some}, round.mode)
            with db.answering(), self.sessions.begin() as session:
                begun_rounds.keep(session, round)
                self.ledgers.of(round).restock(session, round, sold_more=bool(its))

    def of_round(self, item: str, number: int, told: Sequence[Order]) -> BookedOrders:
        with db.answering(), self.sessions() as session:
            rows = orders.of_round(session, item, number)
            return BookedOrders(rows, [stock.bought(session, item, order.key) for order in told])


@dataclass(frozen=True)
class RepairPlan:
    """A repair, planned or done. `unknown` are numbers of rounds without a known stock.

    `lost` are sales that buyers were told of and that cannot come back: holds, and second sales of
    a key. `orders` are those that the database lost.
    """

    lack: Lack
    mark: bytes  # the loss, as it is stored
    rounds: list[RoundFigures]
    unknown: list[int]
    lost: list[Order]
    orders: Lost


class Mend:
    def __init__(self, servers: Servers, rounds: Rounds, books: MendBooks | None = None) -> None:
        """`books`: the explorer hands in some that stay as they are."""
        self.store = servers.store
        self.rounds = rounds
        self.consistency = rounds.consistency
        self.books = books or MendBooks(servers, self.consistency.ledgers)

    def plan(self, item: str) -> RepairPlan | None:
        """Plan an item's repair; None when nothing is lost.

        Writes nothing except the loss mark, which takes the item off sale, as each look for losses
        does. Raises UnknownItem, WrongPair, StoreAway, DatabaseAway; Unreadable when a record is
        broken or was written by a newer version.
        """
        lack = self.consistency.look(item)
        with answering():
            mark = loss_marks.standing(self.store, item)
        if lack is None or mark is None:
            return None
        with answering():
            witnessed = round_repair.told(self.store, item)
        known, booked = self.books.rounds(item, lack.since)
        numbers = {*known, *booked, *(order.round for order in witnessed.orders)}
        if lack.since:
            numbers.add(lack.since)
        figured = {
            number: self._figures(item, number, known.get(number), witnessed) for number in numbers
        }
        rounds = [each for _, each in sorted(figured.items()) if each]
        back = {order.id for each in rounds for order in each.written.brought_back}
        known_ids = {id for each in rounds for id in each.known_ids}
        return RepairPlan(
            lack,
            mark,
            rounds,
            sorted(number for number, each in figured.items() if each is None),
            [
                order
                for order in witnessed.orders
                if order.id not in back | known_ids
                and witnessed.ended.get(order.id, Stands.PAID) is Stands.PAID
            ],
            self.books.lost(item, lack.since),
        )

    def do(self, item: str) -> RepairPlan | None:
        """Plan a repair and do it. May be repeated, and run by two processes at once.

        Raises Lacking when another process has accepted the loss or found a new one meanwhile.
        """
        plan = self.plan(item)
        if plan is None:
            return None
        self.books.bring_back(plan.orders)
        figured = self.plan(item) if plan.orders.back else plan
        done = [self._write(plan.mark, each) for each in figured.rounds] if figured else []
        self.consistency.sell_again(plan.lack, plan.mark)
        return replace(plan, rounds=done)

    def _figures(
        self, item: str, number: int, known: Round | None, witnessed: round_repair.WitnessedSales
    ) -> RoundFigures | None:
        """Return a round's recomputed counts; None if neither store nor books know its stock."""
        with answering():
            remains = round_repair.look(self.store, item, number)
            letters = dead_letters.of_round(self.store, item, number)
        round = remains.round or known
        if round is None:
            return None
        ended = round if round.ended else replace(round, ended=self.rounds.now())
        its = [order for order in witnessed.orders if order.round == number]
        ended_as = witnessed.ended
        ends = [EndedHold("", each, ended_as[each.id]) for each in its if each.id in ended_as]
        if round.hold:  # the others are not paid for
            its = [each.order for each in ends if each.stands is Stands.PAID]
        rows, bought = self.books.of_round(item, number, its)  # after the store: see Auditor
        before = zip(its, bought, strict=True)
        its = [order for order, other in before if other is None or other.id == order.id]
        over = [each for each in ends if each.stands is not Stands.PAID]
        in_store = self.consistency.ledgers.of(round).in_store
        return figures(Evidence(ended, in_store, remains, letters, rows, its, over))

    def _write(self, mark: bytes, wanted: RoundFigures) -> RoundFigures:
        """Write a round's figures; recompute them when another process changed the round."""
        round = wanted.round
        for _ in range(RACES):
            written = wanted.written
            back = [order.id for order in written.brought_back]
            mended = Mended(wanted.booked, back, written.left, wanted.gone).encode()
            with answering():
                if round_repair.write(self.store, mark, wanted.remains, written, mended):
                    return wanted
                other = loss_marks.standing(self.store, round.item)
            if other is None:
                raise ShopError(f"Another process has mended or accepted {round.item} meanwhile.")
            if other != mark:
                raise Lacking(Lack.decode(other))
            with answering():
                witnessed = round_repair.told(self.store, round.item)
            wanted = self._figures(round.item, round.number, round, witnessed) or wanted
        raise StoreAway("The store's sales are being moved all the time. Try again.")
