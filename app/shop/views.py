"""The shop that a customer sees, and its JSON API."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import nullcontext
from typing import Literal, TypedDict

from flask import Blueprint, Response, request, session

from app.domain import (
    Away,
    CannotSell,
    DatabaseAway,
    ForTheClass,
    HoldOver,
    InDoubt,
    Invalid,
    Item,
    KeyReused,
    Lacking,
    Newer,
    NotBooked,
    NotOnSale,
    NotOpen,
    Round,
    ShopError,
    StoreAway,
    TooOften,
    UnknownForm,
    UnknownItem,
    UnknownOrder,
    Unreadable,
    WrongDatabase,
    in_doubt,
)
from app.domain.ids import draw_id
from app.server import parse
from app.server.answers import json, page, said, wants_html
from app.server.contract.fields import AN_ID, KEY, ORDER, QUANTITY
from app.server.contract.operation import Answer, Field, Operation, leads
from app.server.translation import money
from app.service.order_lookup import OrderLookup
from app.service.purchase import Purchase
from app.service.rounds import Rounds
from app.shop.form_keys import new_key, read
from app.shop.order_view import OrderView, order_page, view
from app.shop.purchase_answers import Held, Sold, error_page, sold_json, sold_page
from app.text import Text

REMEMBERED = 20  # orders in the buyer's cookie: those that the database may not have yet
SERVERS = (StoreAway, DatabaseAway, WrongDatabase)  # problems of operations that ask both
A_SALE = {
    **{"outcome": "SOLD", "left": 41, "attempts": 1, "conflicts": 0, "mode": "atomic", "round": 1},
    **{"round_trips": 1, "commands": 1, "lock_lost": False},
    **{"order": AN_ID, "item": "apple", "quantity": 1},
}


def blueprint(
    purchase: Purchase, rounds: Rounds, book: OrderLookup, ask: Callable[[], None]
) -> Blueprint:
    """Return the shop's routes. `ask` refuses a client that buys too often: raises TooOften."""
    shop = Blueprint("shop", __name__)

    def shelf() -> list[ShelfItem]:
        return [_shelf_item(*row, rounds.opens_in) for row in rounds.shelf()]

    @shop.get("/")
    @Operation(Text("The shelf, as a page"), page=True, headers=("Set-Cookie",), problems=SERVERS)
    def index() -> Response:
        know_buyer()
        return page("shop/index.html", items=shelf(), new_key=new_key)

    @shop.get("/items")
    @Operation(
        Text("The shelf"),
        Text("Every item of the catalogue, and what is left of it."),
        {200: list[ShelfItem]},
        problems=SERVERS,
    )
    def items() -> Response:
        return json(shelf())

    @shop.post("/noop")
    @Operation(
        Text("A request for nothing"),
        Text("Reads its body and touches nothing: what HTTP alone costs."),
        {200: Noop},
        body={},
    )
    def noop() -> Response:
        """The yardstick of `compare`."""
        parse.body(request)
        nothing: Noop = {"outcome": "NOOP"}
        return json(nothing)

    @shop.post("/buy/<item>")
    @Operation(
        Text("Buy"),
        Text(
            "All units or none. Send a key of your own with it, in the head or in the body: sent "
            "again with the same key, after a lost answer or a 503, it is the same order. For "
            "another item, the same key makes another order. A form is answered with a page, JSON "
            "with JSON."
        ),
        {
            201: Answer(
                (Sold, Held),
                Text(
                    "Sold, or sold before under the same key; where its round has holds, held "
                    "until it is paid for."
                ),
                A_SALE,
            ),
            303: Answer(None, Text("Sold, to a form: the order's page.")),
        },
        headers=("Set-Cookie",),
        links={"order": leads("shop.order", id="order"), "pay": leads("holding.pay", id="order")},
        problems=(
            *("sold-out", "limit", "busy", UnknownItem, NotOnSale, NotOpen, ForTheClass, Lacking),
            *(CannotSell, Newer, Unreadable, KeyReused, UnknownForm, Invalid, *SERVERS),
            *(TooOften, HoldOver, InDoubt, NotBooked),
        ),
        asks=("Idempotency-Key",),
        body={
            "quantity": QUANTITY,
            "key": Field(Text("The key, where the head has none."), KEY, AN_ID),
        },
    )
    def buy(item: str) -> Response:
        form = wants_html()
        sent, values = "", dict[str, object]()
        try:
            values = parse.body(request)
            # A program may omit it; a form without it is not one of ours.
            quantity = parse.whole(values, "quantity", None if form else 1)
            sent = request.headers.get("Idempotency-Key") or parse.text(values, "key")
            if form and not sent:
                sent = new_key()
            key, holder = read(sent)
            ask()
            buyer = _presser(holder) if form else _caller()
            answer = purchase.buy(item, quantity, key or None, buyer)
            made = answer.sale.order
            with in_doubt(key=made.key) if made else nullcontext():
                if made and buyer:
                    session["orders"] = [made.id, *session.get("orders", [])][:REMEMBERED]
                    if answer.sale.left == 0:  # see _had_the_last
                        session["last"] = session.get("last", {}) | {item: answer.round.number}
                return sold_page(answer, item, quantity, sent) if form else sold_json(answer, item)
        except ShopError as error:
            if isinstance(error, Away) and error.key:
                error.key = sent or error.key  # a form's key is taken with its signature only
            if form:
                return error_page(error, item, values, sent)
            raise

    @shop.get("/orders/<uuid:id>")
    @Operation(
        Text("An order"),
        Text("Recorded as soon as it is sold; confirmed when it is in the database."),
        {200: OrderView},
        page=True,
        problems=(UnknownOrder, NotBooked, Newer, Unreadable, *SERVERS),
        path=ORDER,
    )
    def order(id: uuid.UUID) -> Response:
        entry = book.find(str(id))
        return order_page(entry) if wants_html() else json(view(entry))

    @shop.get("/orders")
    @Operation(
        Text("My orders"),
        Text("Those of the browser whose cookie comes with the request, the newest first."),
        {200: Orders},
        page=True,
        problems=SERVERS,
    )
    def orders() -> Response:
        entries, partial = book.mine(session.get("buyer", ""), session.get("orders", []))
        listed = [view(entry) for entry in entries]
        if wants_html():
            return page("shop/orders.html", orders=listed, partial=partial)
        mine: Orders = {"orders": listed, "partial": partial}
        return json(mine)

    return shop


def know_buyer(buyer: str = "") -> None:
    """Give the browser its signed cookie, so that its orders can be found again."""
    if "buyer" not in session:
        session["buyer"] = buyer or draw_id()
        session.permanent = True


def _presser(holder: str) -> str:
    """Return the buyer of a form: the cookie's, else its `holder`. Raises UnknownForm."""
    if "buyer" not in session and not holder:
        raise UnknownForm(
            Text(
                "Nothing was bought by this press: we do not know this page any more, nor your "
                "browser. Try again from here."
            )
        )
    know_buyer(holder)
    return str(session["buyer"])


def _caller() -> str:
    """Return the buyer of a JSON request.

    Programs send no cookie, and need not wait for its check.
    """
    return session.get("buyer", "") if "HTTP_COOKIE" in request.environ else ""


class ShelfItem(TypedDict):
    """An item on the shelf, for page and program. `round` 0: it never had one."""

    slug: str
    name: Text
    blurb: Text
    price: str  # of one unit, as the visitor's language writes money
    left: int | None  # units; None: not on sale, or unknown
    on_sale: bool
    round: int
    opens_in_ms: int  # 0: it is open, or not on sale
    limit: int  # units in one order
    per_buyer: int  # units that one buyer may have; 0: no limit
    tickets: bool  # it is on sale to the class only
    why_not: str  # it is not on sale, where there is more to say


class Orders(TypedDict):
    """A browser's orders, the newest first. `partial`: we cannot say whether that is all."""

    orders: list[OrderView]
    partial: bool


class Noop(TypedDict):
    """The answer to a request that did nothing."""

    outcome: Literal["NOOP"]


def _shelf_item(
    item: Item,
    found: Round | Unreadable | None,
    left: int | None,
    opens_in: Callable[[Round], int],
) -> ShelfItem:
    round = found if isinstance(found, Round) else None
    on_sale = round is not None and round.running
    return {
        "slug": item.slug,
        "name": item.name,
        "blurb": item.blurb,
        "price": money(item.price),
        "left": left if on_sale else None,
        "on_sale": on_sale,
        "round": round.number if round else 0,
        "opens_in_ms": opens_in(round) if round and on_sale else 0,
        "limit": _most(round) if round else 0,
        "per_buyer": round.per_buyer if round else 0,
        "tickets": on_sale and round is not None and round.tickets,
        "why_not": said(found) if isinstance(found, Unreadable) else "",
    }


def _most(round: Round) -> int:
    """Return how many units one order can have: the lower of the round's two limits."""
    return min(round.limit, round.per_buyer or round.limit)
