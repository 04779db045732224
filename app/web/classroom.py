"""The page that a class opens on its phones: a nickname, a countdown, one button."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from flask import Blueprint, Response, request, session

from app.domain import (
    ITEMS,
    ClassIsFull,
    DatabaseAway,
    Invalid,
    NotOnSale,
    Round,
    StoreAway,
    Unreadable,
)
from app.service.classroom.members import ITEM, LONGEST_NAME, Members, nickname
from app.service.classroom.sale import ClassSale, key_of
from app.service.purchase import Purchase
from app.text import Text
from app.web import parse
from app.web.answers import describe, json, page, see_other, wants_html
from app.web.form_keys import sign
from app.web.shop import know_buyer

KNOWN = "class"  # in the phone's cookie: its nickname, and since when it has it
NOTHING: dict[str, Any] = {"round": 0, "opens_in_ms": 0, "left": None, "key": ""}  # is on sale


def blueprint(purchase: Purchase, sale: ClassSale, members: Members) -> Blueprint:
    phone = Blueprint("class", __name__, url_prefix="/class")

    @phone.get("")
    def show() -> Response:
        know_buyer()
        if KNOWN not in session:
            return name_page("")
        try:
            stands = now()
        except StoreAway:
            stands = NOTHING  # the page asks again by itself
        return page("shop/class.html", name=session[KNOWN]["name"], now=stands, item=ITEMS[ITEM])

    @phone.get("/name")
    def rename() -> Response:
        return name_page(session.get(KNOWN, {}).get("name", ""))

    def name_page(name: str, error: str = "", status: int = 200) -> Response:
        return page("shop/class_name.html", status, name=name, error=error, longest=LONGEST_NAME)

    @phone.post("/name")
    def join() -> Response:
        know_buyer()
        said = parse.text(parse.body(request), "name")
        try:
            name = nickname(said)
            since = session.get(KNOWN, {}).get("since", int(time.time() * 1000))
            with suppress(StoreAway):  # it is greeted again with each sign
                members.greet(session["buyer"], name, since)
        except (Invalid, ClassIsFull) as error:
            if not wants_html():
                raise
            status, _, detail, _ = describe(error)
            return name_page(said[:LONGEST_NAME], detail, status)
        session[KNOWN] = {"name": name, "since": since}
        return see_other("/class") if wants_html() else json({"name": name}, 201)

    @phone.get("/state")
    def state() -> Response:
        """Asked by each phone every few seconds: a sign of life, and how things stand."""
        known = session.get(KNOWN)
        if known is None:
            raise Invalid({"name": Text("Choose a nickname.")})
        with suppress(StoreAway, ClassIsFull):  # it can buy all the same
            members.greet(session["buyer"], known["name"], known["since"])
        return json(now())

    def now() -> dict[str, Any]:
        try:
            round = purchase.running(ITEM)
        except (NotOnSale, Unreadable):
            return NOTHING
        if not sale.owns(round):
            return NOTHING  # else phones would buy from under a stampede
        units = left(round)  # before the clock is read: the store takes its time
        return {
            "round": round.number,
            "opens_in_ms": sale.rounds.opens_in(round),
            "left": units,
            "key": sign(key_of(round, session["buyer"])),
        }

    def left(round: Round) -> int | None:
        """None when nobody can say: the countdown goes on without the store, which may be slow."""
        try:
            return sale.rounds.left(round)
        except (StoreAway, DatabaseAway):
            return None

    return phone
