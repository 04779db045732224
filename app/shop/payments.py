"""The simulated payment of a hold: pay, decline or cancel. A buyer that walks away does nothing."""

from __future__ import annotations

import uuid
from typing import TypedDict

from flask import Blueprint, Response, url_for

from app.domain import (
    AlreadyPaid,
    HoldOver,
    InDoubt,
    Newer,
    NotBooked,
    Order,
    Outcome,
    Stands,
    UnknownOrder,
    Unreadable,
    WrongPair,
    in_doubt,
)
from app.server.answers import json, see_other, wants_html
from app.server.contract.fields import ORDER
from app.server.contract.operation import Answer, Operation
from app.service.holds import Holds
from app.service.order_lookup import OrderLookup
from app.service.pairing import Pairing
from app.shop.order_view import order_page
from app.shop.views import SERVERS
from app.text import Text

FAILS = (HoldOver, InDoubt, NotBooked, UnknownOrder, WrongPair, Newer, Unreadable, *SERVERS)
TO_ORDER = Answer(None, Text("A form: to the order's page."))


def blueprint(holds: Holds, book: OrderLookup, pairing: Pairing) -> Blueprint:
    holding = Blueprint("holding", __name__)
    given_up = Answer(Settled, Text("Its units are on sale again, once."))

    @holding.post("/orders/<uuid:id>/pay")
    @Operation(
        Text("Pay for what is held"),
        Text("Sent again it is the same order; too late it is refused."),
        {201: Answer(Settled, Text("Paid for: it is sold.")), 303: TO_ORDER},
        problems=FAILS,
        path=ORDER,
    )
    def pay(id: uuid.UUID) -> Response:
        """Any client that knows the id may pay."""
        order = book.find(str(id)).order
        pairing.refuse(order.item)
        try:
            with in_doubt(order=order.id):
                holds.pay(order)
                return answered(Outcome.SOLD, order, 201)
        except HoldOver:
            if wants_html():
                return order_page(book.find(str(id)), 410)
            raise

    @holding.post("/orders/<uuid:id>/decline")
    @Operation(
        Text("The payment is declined"),
        answers={200: given_up, 303: TO_ORDER},
        problems=(AlreadyPaid, *FAILS),
        path=ORDER,
    )
    def decline(id: uuid.UUID) -> Response:
        return give_up(str(id), Stands.DECLINED)

    @holding.post("/orders/<uuid:id>/cancel")
    @Operation(
        Text("Give up what is held"),
        answers={200: given_up, 303: TO_ORDER},
        problems=(AlreadyPaid, *FAILS),
        path=ORDER,
    )
    def cancel(id: uuid.UUID) -> Response:
        return give_up(str(id), Stands.CANCELLED)

    def give_up(id: str, stands: Stands) -> Response:
        order = book.find(id).order
        pairing.refuse(order.item)
        try:
            with in_doubt(order=id):
                return answered(holds.give_up(order, stands).stands, order, 200)
        except HoldOver:
            if wants_html():
                return order_page(book.find(id), 410)
            raise

    def answered(outcome: Outcome | Stands, order: Order, status: int) -> Response:
        if wants_html():
            return see_other(url_for("shop.order", id=order.id))
        return json(settled(outcome, order), status)

    return holding


class Settled(TypedDict):
    """A hold that was paid for (SOLD), or given up. `order` is the order's id."""

    outcome: str  # an Outcome, or how the hold stands
    order: str
    round: int
    item: str
    quantity: int


def settled(outcome: Outcome | Stands, order: Order) -> Settled:
    return {
        "outcome": outcome,
        "order": order.id,
        "round": order.round,
        "item": order.item,
        "quantity": order.quantity,
    }
