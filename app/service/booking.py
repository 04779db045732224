"""Book sales: write them into the database, all but those that it refuses for good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session, sessionmaker

from app.domain import Order
from app.store import db, orders


def book(sessions: sessionmaker[Session], sales: Mapping[bytes, Order]) -> dict[bytes, str]:
    """Commit `sales` (by a name of the caller's); the reason, by name, for each that is refused.

    Raises DatabaseAway when waiting may help; some of them are then committed, others not.
    """
    refused = {name: why for name, order in sales.items() if (why := orders.misfit(order))}
    fitting = [each for each in sales.items() if each[0] not in refused]
    return refused | _insert(sessions, fitting)


def _insert(
    sessions: sessionmaker[Session], sales: Sequence[tuple[bytes, Order]]
) -> dict[bytes, str]:
    """All at once. Where some are to blame, half by half: two of 500 cost some 30 transactions."""
    if not sales:
        return {}
    try:
        with db.taking_rows(), sessions.begin() as session:
            orders.insert_missing(session, [order for _, order in sales])
    except db.Refused as error:
        if len(sales) == 1:
            return {sales[0][0]: f"The database refuses it: {error}"}
        half = len(sales) // 2
        return _insert(sessions, sales[:half]) | _insert(sessions, sales[half:])
    return {}
