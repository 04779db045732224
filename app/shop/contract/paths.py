"""What the shop takes and answers, endpoint by endpoint."""

from __future__ import annotations

from app.domain import (
    CannotSell,
    DatabaseAway,
    ForTheClass,
    HoldOver,
    InDoubt,
    Invalid,
    KeyReused,
    Lacking,
    Newer,
    NotBooked,
    NotOnSale,
    NotOpen,
    StoreAway,
    TooOften,
    UnknownForm,
    UnknownItem,
    UnknownOrder,
    Unreadable,
    WrongDatabase,
)
from app.server.contract.common import SERVERS
from app.server.contract.fields import AN_ID, KEY, QUANTITY, UUID
from app.server.contract.parts import Answer, Body, Field, Link, Operation
from app.shop.order_view import OrderView
from app.shop.purchase_answers import Held, Sold
from app.shop.views import Noop, Orders, ShelfItem
from app.text import Text

A_SALE = {
    **{"outcome": "SOLD", "left": 41, "attempts": 1, "conflicts": 0, "mode": "atomic", "round": 1},
    **{"round_trips": 1, "commands": 1, "lock_lost": False},
    **{"order": AN_ID, "item": "apple", "quantity": 1},
}
THE_ORDER = Field(says=Text("An order's id."), schema=UUID, example=AN_ID, required=True)

SHOP = {
    "shop.index": Operation(
        name=Text("The shelf, as a page"),
        answers={200: Answer(says=Text("A page."), html=True, headers=("Set-Cookie",))},
        problems=SERVERS,
    ),
    "shop.items": Operation(
        name=Text("The shelf"),
        says=Text("Every item of the catalogue, and what is left of it."),
        answers={200: Answer(says=Text("All items."), json=list[ShelfItem])},
        problems=SERVERS,
    ),
    "shop.buy": Operation(
        name=Text("Buy"),
        says=Text(
            "All units or none. Send a key of your own with it, in the head or in the body: sent "
            "again with the same key, after a lost answer or a 503, it is the same order. For "
            "another item, the same key makes another order. A form is answered with a page, JSON "
            "with JSON."
        ),
        headers=("Idempotency-Key",),
        body=Body(
            fields={
                "quantity": QUANTITY,
                "key": Field(
                    says=Text("The key, where the head has none."), schema=KEY, example=AN_ID
                ),
            },
            required_in_forms=("quantity",),
        ),
        answers={
            201: Answer(
                says=Text(
                    "Sold, or sold before under the same key; where its round has holds, held "
                    "until it is paid for."
                ),
                json=(Sold, Held),
                example=A_SALE,
                headers=("Set-Cookie",),
                links={
                    "order": Link(
                        to="shop.order",
                        says=Text("The order that was made."),
                        takes={"id": "$response.body#/order"},
                    ),
                    "pay": Link(
                        to="holding.pay",
                        says=Text("To pay for what is held."),
                        takes={"id": "$response.body#/order"},
                    ),
                },
            ),
            303: Answer(
                says=Text("Sold, to a form: the order's page."), headers=("Location", "Set-Cookie")
            ),
        },
        problems=(
            *("sold-out", "limit", "busy", UnknownItem, NotOnSale, NotOpen, ForTheClass, Lacking),
            CannotSell,
            *(Newer, Unreadable, KeyReused, UnknownForm, Invalid, StoreAway, DatabaseAway),
            WrongDatabase,
            TooOften,
            HoldOver,
            InDoubt,
            NotBooked,
        ),
    ),
    "shop.order": Operation(
        name=Text("An order"),
        says=Text("Recorded as soon as it is sold; confirmed when it is in the database."),
        path={"id": THE_ORDER},
        answers={200: Answer(says=Text("The order."), json=OrderView, html=True)},
        problems=(UnknownOrder, NotBooked, Newer, Unreadable, *SERVERS),
    ),
    "shop.orders": Operation(
        name=Text("My orders"),
        says=Text("Those of the browser whose cookie comes with the request, the newest first."),
        answers={200: Answer(says=Text("The orders."), json=Orders, html=True)},
        problems=SERVERS,
    ),
    "shop.noop": Operation(
        name=Text("A request for nothing"),
        says=Text("Reads its body and touches nothing: what HTTP alone costs."),
        body=Body(fields={}),
        answers={200: Answer(says=Text("Nothing was done."), json=Noop)},
    ),
}
