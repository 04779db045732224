"""An order, or a hold that is to be paid for, for pages and programs."""

from __future__ import annotations

from typing import TypedDict

from flask import Response

from app.domain import ITEMS, iso
from app.server.answers import page
from app.server.translation import money
from app.service.order_lookup import OrderEntry


class OrderView(TypedDict):
    """An order or a hold. Moments end in `_at` (ISO 8601 in UTC), except `pay_until`.

    `pay_until` is the value that the purchase answered.
    """

    id: str
    item: str
    name: str  # the item's; the order's name for it, if the catalogue has it no more
    known: bool  # is the item in the catalogue?
    quantity: int
    total: str  # as the visitor's language writes money
    # held: to be paid for; recorded, then confirmed once it is in the database; declined, cancelled
    # or expired: how a hold ended; not_booked: cancelled because it could not be booked.
    state: str
    round: int
    sold_at: str | None
    request: str  # the id of the request that made it; "" of old orders
    pay_until: int | None  # ms since 1970 by the store's clock; None: it was sold at once
    pay_in_ms: int  # left to pay in; 0: it is not held


def view(entry: OrderEntry) -> OrderView:
    order, hold = entry.order, entry.hold
    known = ITEMS.get(order.item)
    unconfirmed = hold.stands.lower() if hold else "not_booked" if entry.dropped else "recorded"
    return {
        "id": order.id,
        "item": order.item,
        "name": known.name if known else order.item,
        "known": known is not None,
        "quantity": order.quantity,
        "total": money(order.price * order.quantity),
        "state": "confirmed" if entry.confirmed else unconfirmed,
        "round": order.round,
        "sold_at": iso(order.at),
        "request": order.request,
        "pay_until": hold.until if hold else None,
        "pay_in_ms": hold.ms_left if hold else 0,
    }


def order_page(entry: OrderEntry, status: int = 200) -> Response:
    if entry.hold:
        return page("shop/hold.html", status, order=view(entry), until=iso(entry.hold.until))
    return page("shop/order.html", status, order=view(entry))
