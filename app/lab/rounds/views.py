"""The instructor's console: start a round, watch it, read the audit's verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TypedDict

from flask import Blueprint, Response, request, url_for

from app.domain import (
    ITEMS,
    ROUND_BOUNDS,
    DatabaseAway,
    Invalid,
    Lacking,
    NotOnSale,
    Round,
    StockHeld,
    StoreAway,
    UnknownItem,
    UnknownRound,
    Unreadable,
    WrongPair,
)
from app.lab.about import About
from app.lab.contract import BOOKS
from app.lab.round_form import HOLD, PER_BUYER, ROUND, at_fields, linked, read, round_limits
from app.server import parse
from app.server.answers import describe, json, page, said, see_other, wants_html
from app.server.contract.operation import Answer, Operation, leads, number
from app.service import catalogue, verdict
from app.service.audit import Auditor
from app.service.catalogue import CatalogueEntry
from app.service.dead_letters import DeadLetters
from app.service.holds import Holds
from app.service.round_view import View, terms, view
from app.service.rounds import Rounds
from app.service.verdict import Audit
from app.text import Text

ASKED = ROUND | {
    PER_BUYER: number(
        Text("Units that one buyer may have of the round; 0: as many as there are."),
        *(ROUND_BOUNDS["per_buyer"], 0),
    ),
    HOLD: number(
        Text("ms that a buyer has to pay; 0: what is bought is sold at once."),
        *(ROUND_BOUNDS["hold"], 0),
    ),
}
LINKS = {
    name: leads(to, item="item", number="round")
    for name, to in {"look": "lab.show", "audit": "lab.audit", "holds": "holds.show"}.items()
} | {"end": leads("lab.end", item="item")}
MOST = 12  # holds on the page: those that expire next
UNKNOWN = (UnknownItem, UnknownRound, Lacking, *BOOKS)


def blueprint(
    rounds: Rounds,
    auditor: Auditor,
    dead_letters: DeadLetters,
    about: Callable[[], About],
) -> Blueprint:
    lab = Blueprint("lab", __name__)
    lab.record(lambda made: made.app.jinja_env.globals.update(audit_words=verdict))

    @lab.get("/")
    @Operation(
        Text("The console"),
        Text("Fields of a round in the address fill its form in."),
        page=True,
        problems=BOOKS,
    )
    def index() -> Response:
        return form_page(linked(ASKED), {})

    def form_page(
        values: Mapping[str, object], errors: dict[str, str], status: int = 200
    ) -> Response:
        shelf = rounds.shelf()
        return page(
            "lab/rounds/index.html",
            status,
            rounds=[{**shown(r), "left": left} for _, r, left in shelf if isinstance(r, Round)],
            unreadable=[(item.name, said(r)) for item, r, _ in shelf if isinstance(r, Unreadable)],
            form={**_defaults(), **values},
            errors=errors,
            items=ITEMS.values(),
            modes=catalogue.modes(),
            recipes=catalogue.recipes(),
            limits=round_limits(),
            dead={ITEMS[item]: count for item, count in dead_letters.count().items() if count},
        )

    @lab.post("/rounds")
    @Operation(
        Text("Start a round"),
        Text("It ends the item's running one."),
        {201: Answer(View, Text("It sells.")), 303: None},
        links=LINKS,
        problems=(Invalid, UnknownItem, StockHeld, Lacking, *BOOKS),
        body=ASKED,
        closed=True,
    )
    def start() -> Response:
        values = parse.body(request)
        try:
            round = _start(values)
        except (Invalid, UnknownItem) as error:
            if not wants_html():
                raise
            return form_page(values, at_fields(error, values), 422)
        if wants_html():
            return see_other(url_for("lab.show", item=round.item, number=round.number))
        return json(view(round), 201)

    def _start(values: Mapping[str, object]) -> Round:
        parse.only(values, ASKED)
        return rounds.start(*read(values))

    @lab.get("/rounds/<item>")
    @Operation(
        Text("An item's newest round"),
        answers={200: Stands, 303: None},
        links=LINKS,
        problems=UNKNOWN,
    )
    def newest(item: str) -> Response:
        round = rounds.find(item)
        if wants_html():
            return see_other(url_for("lab.show", item=item, number=round.number))
        return json(stands(round))

    def stands(round: Round) -> Stands:
        return {**view(round), "left": rounds.left(round)}

    @lab.get("/rounds/<item>/<int:number>")
    @Operation(Text("A round"), answers={200: Stands}, page=True, links=LINKS, problems=UNKNOWN)
    def show(item: str, number: int) -> Response:
        round = rounds.find(item, number)
        if not wants_html():
            return json(stands(round))
        try:
            audit, error = asdict(auditor.audit(round)), ""
        except (StoreAway, DatabaseAway, Unreadable, WrongPair) as away:
            audit, error = None, describe(away)[1]
        entry = catalogue.parse_way(round.mode)
        again = {name: value for name, value in terms(round).items() if name in ASKED}
        again |= {"mode": entry.mode.name, "recipe": entry.recipe.name} if entry.recipe else {}
        return page(
            "lab/rounds/round.html", round=shown(round), audit=audit, audit_error=error, again=again
        )

    @lab.post("/rounds/<item>/end")
    @Operation(
        Text("End a round"),
        Text("The item's newest one; nothing is sold afterwards."),
        {200: Answer(View, Text("It has ended.")), 303: None},
        links=LINKS,
        problems=(UnknownItem, NotOnSale, *BOOKS),
    )
    def end(item: str) -> Response:
        round = rounds.end(item)
        if wants_html():
            return see_other(url_for("lab.show", item=item, number=round.number))
        return json(view(round))

    @lab.get("/rounds/<item>/<int:number>/audit")
    @Operation(
        Text("What the audit finds"),
        Text("Stocked, left and sold by the books, and a verdict; `settling` is none yet."),
        {200: Audit},
        problems=UNKNOWN,
    )
    def audit(item: str, number: int) -> Response:
        return json(auditor.audit(rounds.find(item, number)))

    @lab.get("/about")
    @Operation(
        Text("What this runs on"),
        Text("And all modes and recipes that it can sell with."),
        {200: Everything},
        problems=(StoreAway,),
    )
    def about_us() -> Response:
        everything: Everything = {
            **about(),
            "modes": catalogue.modes(),
            "recipes": catalogue.recipes(),
        }
        return json(everything)

    return lab


def holds_blueprint(rounds: Rounds, holds: Holds) -> Blueprint:
    lab = Blueprint("holds", __name__)

    @lab.get("/rounds/<item>/<int:number>/holds")
    @Operation(Text("The holds that run out next"), answers={200: AllDue}, problems=UNKNOWN)
    def show(item: str, number: int) -> Response:
        listed: list[Due] = [
            {"order": each.order.id, "quantity": each.order.quantity, "pay_in_ms": max(0, each.ms)}
            for each in holds.next_due(rounds.find(item, number), MOST)
        ]
        due: AllDue = {"holds": listed}
        return json(due)

    return lab


class Due(TypedDict):
    """One hold; `order` is its order's id."""

    order: str
    quantity: int
    pay_in_ms: int  # left to pay in


class AllDue(TypedDict):
    """The holds that expire next, the earliest first."""

    holds: list[Due]


class Stands(View):
    """A round and what is left of it, in units; null: unknown."""

    left: int | None


class Everything(About):
    """This installation's versions and settings, and all its modes and recipes."""

    modes: list[CatalogueEntry]
    recipes: list[CatalogueEntry]


class ShownRound(View):
    """A round in the templates."""

    name: Text
    number: int


def shown(round: Round) -> ShownRound:
    return {**view(round), "name": ITEMS[round.item].name, "number": round.number}


def _defaults() -> dict[str, object]:
    """Return the empty form's values: a lecture's demo, five people who oversell ten apples."""
    return {**terms(Round("apple", 0, 10, "naive", think=500)), "recipe": "lease"}
