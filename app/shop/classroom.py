"""The page that a class opens on its phones: a nickname, a countdown, one button."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any, TypedDict

from flask import Blueprint, Response, request, session

from app.domain import ITEMS, DatabaseAway, Invalid, NotOnSale, Round, StoreAway, Unreadable
from app.server import parse
from app.server.answers import describe, json, page, see_other, wants_html
from app.server.contract.operation import Answer, Field, Operation
from app.service.classroom.ending import ForOne
from app.service.classroom.members import ITEM, LONGEST_NAME, Members, nickname
from app.service.classroom.notices import Notices
from app.service.purchase import Purchase
from app.service.rounds import Rounds
from app.service.selling import ticket
from app.shop.form_keys import sign
from app.shop.views import know_buyer
from app.text import Text

KNOWN = "class"  # in the phone's cookie: its nickname, and since when it has it
NICKNAME = Field(
    Text("A nickname, as the projector shows it."),
    {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME, "pattern": "[A-Za-z0-9]"},
    "Ada",
    required=True,
)


class State(TypedDict):
    """The state of things for one phone. `round` 0: nothing is on sale; `left` null: unknown."""

    round: int
    opens_in_ms: int
    left: int | None  # units
    key: str  # to send with the purchase; "" while nothing is on sale
    ending: ForOne | None  # of the last sale that this phone had a part in


class Joined(TypedDict):
    """A phone's nickname, as it is shown."""

    name: str


# is on sale, and nothing has ended that this phone had a part in
NOTHING: State = {"round": 0, "opens_in_ms": 0, "left": None, "key": "", "ending": None}


def blueprint(purchase: Purchase, rounds: Rounds, members: Members, notices: Notices) -> Blueprint:
    phone = Blueprint("class", __name__, url_prefix="/class")

    def me() -> dict[str, Any] | None:
        """Return this phone in this class; None: it has not joined, or joined an earlier one."""
        known: dict[str, Any] | None = session.get(KNOWN)
        return known if known and notices.is_of_this_class(known["since"]) else None

    @phone.get("")
    @Operation(Text("The class's page on a phone"), page=True)
    def show() -> Response:
        know_buyer()
        known = me()
        if known is None:
            return rename()
        try:
            stands = now()
        except StoreAway:
            stands = NOTHING  # the page polls by itself
        return page("shop/class.html", known=known, now=stands, item=ITEMS[ITEM])

    @phone.get("/name")
    @Operation(Text("The page that asks for a nickname"), page=True)
    def rename() -> Response:
        return name_page(session.get(KNOWN, {}).get("name", ""))

    def name_page(name: str, error: str = "", status: int = 200) -> Response:
        return page("shop/class_name.html", status, name=name, error=error, longest=LONGEST_NAME)

    @phone.post("/name")
    @Operation(
        Text("Join the class"),
        Text("Or take another nickname. The cookie that comes back is the phone's."),
        {
            201: Answer(Joined, Text("The phone is in the class."), {"name": "Ada"}),
            303: Answer(None, Text("The same, to a form.")),
        },
        headers=("Set-Cookie",),
        problems=(Invalid,),
        body={"name": NICKNAME},
    )
    def join() -> Response:
        know_buyer()
        wished = parse.text(parse.body(request), "name")
        try:
            name = nickname(wished)
        except Invalid as error:
            if not wants_html():
                raise
            status, _, detail, _ = describe(error)
            return name_page(wished[:LONGEST_NAME], detail, status)
        known = me() or {"since": joined()}
        session[KNOWN] = known | {"name": name}
        greet()
        joined_as: Joined = {"name": name}
        return see_other("/class") if wants_html() else json(joined_as, 201)

    def joined() -> int:
        """Return the store's time, by which a class began; else this host's. In ms since 1970."""
        try:
            return rounds.now()
        except StoreAway:  # the store never answered, so no class began either
            return int(time.time() * 1000)

    def greet() -> None:
        """Record a sign of life of this phone, if the store answers: it counts down without it."""
        known = session[KNOWN]
        with suppress(StoreAway):
            members.greet(
                session["buyer"], known["name"], known["since"], request.remote_addr or ""
            )

    @phone.get("/state")
    @Operation(
        Text("How the sale stands"),
        Text("For the phone whose cookie comes with the request; a sign of life, too."),
        {200: State},
        problems=(Invalid, StoreAway),
    )
    def state() -> Response:
        """Return this phone's state; each phone asks every few seconds."""
        if me() is None:
            raise Invalid({"name": Text("Choose a nickname.")})
        greet()
        return json(now())

    def now() -> State:
        try:
            round = purchase.running(ITEM)
        except (NotOnSale, Unreadable):
            round = None
        if round is None or not round.tickets:  # else phones would buy from under a stampede
            return {**NOTHING, "ending": notices.ending_for(session["buyer"])}
        units = left(round)  # before the clock is read: the store may be slow
        return {
            **NOTHING,
            "round": round.number,
            "opens_in_ms": rounds.opens_in(round),
            "left": units,
            "key": sign(ticket(round, session["buyer"])),
        }

    def left(round: Round) -> int | None:
        """Return the units left; None when unknown.

        The countdown continues without the store, which may be slow or away.
        """
        try:
            return rounds.left(round)
        except (StoreAway, DatabaseAway):
            return None

    return phone
