"""What the figures of a round are that lost something: all sales that anybody still knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain import Order, Round, Stands
from app.store import sales
from app.store.dead_letters import DeadLetter
from app.store.mending import Remains, Written


@dataclass(frozen=True)
class Figures:
    """Units, but for `booked` (orders) and `waiting` (sales in the stream that are none yet).

    `gone`: the store knew nothing of the round. `there` are the ids of all sales and holds that are
    in store or books.
    """

    remains: Remains
    written: Written
    gone: bool
    booked: int
    waiting: int
    sold: int
    held: int
    there: frozenset[str]

    @property
    def round(self) -> Round:
        return self.written.round


def figures(
    round: Round,
    remains: Remains,
    letters: Sequence[DeadLetter],
    dropped: int,
    rows: Sequence[tuple[str, int, str]],
    told: Sequence[Order],
    over: Sequence[tuple[Order, Stands]],
    elsewhere: bool,
) -> Figures:
    """`letters` and `dropped` are the round's dead letters, `rows` its orders (id, units, key).

    `told` are sales that workers have told buyers of; in a round that holds, those that were paid
    for. `over` are holds that were given back or ran out, as workers have told their buyers. A
    round that sells `elsewhere` is in the database alone.
    """
    waiting = sales.readable(round, remains.payloads)
    still_sold = [letter.sale for letter in letters if not letter.put_back]
    dead = sales.readable(round, still_sold)
    booked = {id for id, _, _ in rows}
    units = {id: quantity for id, quantity, _ in rows}
    units |= {order.id: order.quantity for order in (*waiting, *dead)}
    taken = [
        (entry, order) for entry, sale in remains.taken for order in sales.readable(round, [sale])
    ]
    buried = {order.id for order in sales.readable(round, [letter.sale for letter in letters])}
    keys = {key for _, _, key in rows} | {order.key for order in (*waiting, *dead)}
    known = units.keys() | buried
    back = [order for order in told if order.id not in known and order.key not in keys]
    back = [] if elsewhere else back
    sales_of = units.keys() | {order.id for order in back}
    ends = {order.id: stands for order, stands in over if order.id not in buried}
    ends |= dict.fromkeys(sales_of, Stands.PAID)
    ended = [(entry, order, ends[order.id]) for entry, order in taken if order.id in ends]
    held = {order.id: order.quantity for _, order in taken if order.id not in ends}
    returned = sum(order.quantity for _, order, stands in ended if stands is not Stands.PAID)
    if round.hold:  # the hold itself is lost, too, or has ended in another way since
        entered = {order.id for _, order, _ in ended}
        lost = [order for order in (*back, *(order for order, _ in over)) if order.id in ends]
        ended += [("", order, ends[order.id]) for order in lost if order.id not in entered]
    sold = sum(units.values()) + sum(order.quantity for order in back)
    # Never more than the store says: what was nobody's before, stays so.
    left = max(0, round.stock - sold - sum(held.values()))
    left = left if remains.left is None else min(left, remains.left + returned)
    unread = len(remains.payloads) - len(waiting)
    others = len(letters) - len(dead) + dropped
    recorded = max(remains.recorded + len(back), len(units) + len(back) + unread + others)
    return Figures(
        remains,
        Written(round, None if elsewhere else left, recorded, back, ended),
        remains.round is None,
        len(rows),
        len({order.id for order in waiting} - booked),
        sold,
        sum(held.values()),
        frozenset(known | held.keys()),
    )
