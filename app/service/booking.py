"""Book sales: write their orders into the database, except those that it refuses for good.

The receipt of an order's idempotency key is written with the order. A key that has bought the item
before, in any round and mode, is refused here forever, even if the store has forgotten it. Exhibits
write no receipts: an order that they sell twice is kept, so that it can be counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session, sessionmaker

from app.domain import Order
from app.modes import Way
from app.store.sql import db, orders, stock


@dataclass(frozen=True)
class Refusal:
    """Why a sale is not booked, and the order that its key had bought before, if any."""

    reason: str
    bought: Order | None = None


def book(
    sessions: sessionmaker[Session], sales: Mapping[bytes, Order], mode: str
) -> dict[bytes, Refusal]:
    """Commit an item's `sales` and return the refusals, under the names that the caller gave them.

    `mode` is the one that sold them, "" if it is unknown. Raises DatabaseAway when waiting may
    help; some of the sales are then committed, others not.
    """
    misfits = {name: orders.misfit(order) for name, order in sales.items()}
    fitting = [each for each in sales.items() if not misfits[each[0]]]
    refused = {name: Refusal(why) for name, why in misfits.items() if why}
    return refused | _insert(sessions, fitting, exhibit=bool(mode) and Way.of(mode).exhibit)


def _insert(
    sessions: sessionmaker[Session], sales: Sequence[tuple[bytes, Order]], exhibit: bool
) -> dict[bytes, Refusal]:
    """Insert all sales in one transaction; if some are to blame, try each half again.

    Two bad sales among 500 cost some 30 transactions.
    """
    if not sales:
        return {}
    sold = [order for _, order in sales]
    try:
        with db.taking_rows(), sessions.begin() as session:
            late = {} if exhibit else stock.hand_receipts(session, sold[0].item, sold)
            orders.insert_missing(session, [order for order in sold if order.id not in late])
            bought = {id: orders.find(session, whose) for id, whose in late.items()}
    except db.RowsRefused as error:
        if len(sales) == 1:
            return {sales[0][0]: Refusal(f"The database refuses it: {error}")}
        half = len(sales) // 2
        return _insert(sessions, sales[:half], exhibit) | _insert(sessions, sales[half:], exhibit)
    return {
        name: Refusal(f"Its key has bought order {late[order.id]} before.", bought[order.id])
        for name, order in sales
        if order.id in late
    }
