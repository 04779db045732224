"""Answers to a purchase, or to a press that sold nothing: in JSON, and as a page."""

from __future__ import annotations

from flask import Response, request, session, url_for

from app.domain import (
    ITEMS,
    DatabaseAway,
    ForTheClass,
    HoldOver,
    Invalid,
    KeyReused,
    Newer,
    NotBooked,
    NotOnSale,
    NotOpen,
    Outcome,
    ShopError,
    StoreAway,
    TooOften,
    UnknownForm,
    UnknownItem,
    Unreadable,
)
from app.server.answers import describe, json, page, problem, see_other, type_of
from app.server.outcomes import OUTCOMES, NotSold, OverLimit, Tried, named
from app.service.purchase import PurchaseAnswer
from app.shop.form_keys import new_key
from app.text import Text

TOO_FEW = Text("Not enough left")  # for a page, which shows what is left
TOO_MANY = Text("Too many are buying at this moment. Try again.")
NOTHING_LEFT = Text("Nothing is left of this round.")
YOURS = Text("Nothing is left of this round: you have bought the last one yourself.")
# error -> the shop's page for it
KINDS: dict[type[ShopError], str] = {
    UnknownItem: "not_found",
    NotOnSale: "not_on_sale",
    NotOpen: "not_open",
    ForTheClass: "for_the_class",
    Newer: "not_on_sale",
    Unreadable: "not_on_sale",
    Invalid: "invalid",
    KeyReused: "invalid",
    HoldOver: "over",
    NotBooked: "over",
    UnknownForm: "unknown_form",
    TooOften: "too_often",
    StoreAway: "unavailable",
    DatabaseAway: "unavailable",
}


class Sold(Tried):
    """A sale; sold before, when its key was seen before. `order` is the order's id."""

    order: str
    item: str
    quantity: int


class Held(Sold):
    """A hold: a sale once it is paid for; until then its units are reserved."""

    pay_until: int  # ms since 1970 by the store's clock
    pay_in_ms: int  # left to pay in


def sold_json(answer: PurchaseAnswer, item: str) -> Response:
    sale, round, wire = answer.sale, answer.round, answer.wire
    tried: Tried = {
        "outcome": sale.outcome,
        "left": sale.left,
        "attempts": sale.attempts,
        "conflicts": sale.conflicts,
        "mode": round.mode,
        "round": round.number,
        "round_trips": wire.round_trips,
        "commands": wire.commands,
        "lock_lost": sale.lock_lost,
    }
    if order := sale.order:
        sold: Sold = {
            **tried,
            "order": order.id,
            "item": order.item,
            "quantity": order.quantity,
        }
        if answer.hold and sale.outcome is Outcome.HELD:
            hold = answer.hold
            held: Held = {**sold, "pay_until": hold.until, "pay_in_ms": hold.ms_left}
            return json(held, 201)
        return json(sold, 201)
    status, title = OUTCOMES[sale.outcome]
    not_sold: NotSold = {**tried, "yours": _had_the_last(answer, item)}
    if sale.outcome is Outcome.LIMIT:
        over: OverLimit = {**not_sold, "bought": sale.bought, "per_buyer": round.per_buyer}
        not_sold = over
    known = type_of(named(sale.outcome))
    return problem(status, title, _in_words(answer, item), type=known, **not_sold)


def sold_page(answer: PurchaseAnswer, item: str, quantity: int, key: str) -> Response:
    sale = answer.sale
    if sale.order:
        return see_other(url_for("shop.order", id=sale.order.id))
    status, title = OUTCOMES[sale.outcome]
    return page(
        "shop/answer.html",
        status,
        kind=sale.outcome.lower(),
        title=TOO_FEW if sale.outcome is Outcome.SOLD_OUT and sale.left else title,
        detail=_in_words(answer, item),
        slug=item,
        name=ITEMS[item].name,
        left=sale.left,
        quantity=quantity,
        key=key,
        new_key=new_key,
    )


def error_page(error: ShopError, item: str, values: dict[str, object], key: str) -> Response:
    status, title, detail, _ = describe(error)
    known = ITEMS.get(item)
    answer = page(
        "shop/answer.html",
        status,
        kind=KINDS.get(type(error), "unavailable"),
        title=title,
        detail=detail,
        slug=item if known else None,
        name=known.name if known else None,
        left=None,
        quantity=values.get("quantity"),
        key=new_key() if isinstance(error, UnknownForm) else key,
        new_key=new_key,
    )
    if isinstance(error, TooOften):
        answer.headers["Retry-After"] = str(error.wait)
    return answer


def _had_the_last(answer: PurchaseAnswer, item: str) -> bool:
    """Return whether this browser has bought the round's last unit, perhaps in another tab."""
    if not request.cookies:
        return False
    return bool(session.get("last", {}).get(item) == answer.round.number)


def _in_words(answer: PurchaseAnswer, item: str) -> Text:
    if answer.sale.outcome is Outcome.BUSY:
        return TOO_MANY
    if answer.sale.outcome is Outcome.LIMIT:
        return Text(
            "One buyer gets %(most)s of these at most, and you have bought %(bought)s.",
            most=answer.round.per_buyer,
            bought=answer.sale.bought,
        )
    if answer.sale.left:
        return Text("Only %(left)s left, fewer than you asked for.", left=answer.sale.left)
    return YOURS if _had_the_last(answer, item) else NOTHING_LEFT
