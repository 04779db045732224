"""What came of a purchase, or of a press that sold nothing: in JSON, and on a page."""

from __future__ import annotations

from flask import Response, request, session, url_for

from app.domain import (
    ITEMS,
    DatabaseAway,
    ForTheClass,
    Invalid,
    KeyReused,
    Newer,
    NotOnSale,
    NotOpen,
    Outcome,
    ShopError,
    StoreAway,
    UnknownForm,
    UnknownItem,
    Unreadable,
)
from app.service.answer import Answer
from app.text import Text
from app.web.answers import describe, json, page, problem, see_other
from app.web.form_keys import new_key

# outcome -> (status, title)
OUTCOMES = {
    Outcome.SOLD_OUT: (409, Text("Sold out")),
    Outcome.BUSY: (503, Text("Busy")),
}
TOO_FEW = Text("Not enough left")  # for a page: beside "Sold out" a reader would see what is left
TOO_MANY = Text("Too many are buying at this moment, and there is stock left. Try again.")
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
    UnknownForm: "unknown_form",
    StoreAway: "unavailable",
    DatabaseAway: "unavailable",
}


def sold_json(answer: Answer, item: str) -> Response:
    sale, round, wire = answer.sale, answer.round, answer.wire
    members = {
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
    if sale.order:
        sold = {"order": sale.order.id, "item": sale.order.item, "quantity": sale.order.quantity}
        return json(members | sold, 201)
    status, title = OUTCOMES[sale.outcome]
    members["yours"] = _had_the_last(answer, item)
    return problem(status, title, _in_words(answer, item), **members)


def sold_page(answer: Answer, item: str, quantity: int, key: str) -> Response:
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
    return page(
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


def _had_the_last(answer: Answer, item: str) -> bool:
    """Has this browser bought the round's last unit, perhaps in another tab?"""
    if not request.cookies:
        return False
    return bool(session.get("last", {}).get(item) == answer.round.number)


def _in_words(answer: Answer, item: str) -> Text:
    if answer.sale.outcome is Outcome.BUSY:
        return TOO_MANY
    if answer.sale.left:
        return Text("Only %(left)s left, fewer than you asked for.", left=answer.sale.left)
    return YOURS if _had_the_last(answer, item) else NOTHING_LEFT
