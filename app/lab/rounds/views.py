"""The instructor's console: start a round, watch it, read the audit's verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict

from flask import Blueprint, Response, request, url_for

from app.domain import (
    ITEMS,
    DatabaseAway,
    Invalid,
    Round,
    StoreAway,
    UnknownItem,
    Unreadable,
    WrongPair,
)
from app.lab.about import About
from app.lab.round_form import FIELDS, HOLD, PER_BUYER, at_fields, read, round_limits
from app.server import parse
from app.server.answers import describe, json, page, said, see_other, wants_html
from app.service import catalogue, verdict
from app.service.audit import Auditor
from app.service.catalogue import CatalogueEntry
from app.service.dead_letters import DeadLetters
from app.service.round_view import View, terms, view
from app.service.rounds import Rounds
from app.text import Text

ASKED = (*FIELDS, PER_BUYER, HOLD)


def blueprint(
    rounds: Rounds,
    auditor: Auditor,
    dead_letters: DeadLetters,
    about: Callable[[], About],
) -> Blueprint:
    lab = Blueprint("lab", __name__)
    lab.record(lambda made: made.app.jinja_env.globals.update(audit_words=verdict))

    @lab.get("/")
    def index() -> Response:
        # A link may fill the form in: "start another like it".
        return form_page({name: request.args[name] for name in ASKED if name in request.args}, {})

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
        if unknown := sorted(values.keys() - set(ASKED)):
            raise Invalid(
                {name: Text("A round has no %(field)s.", field=repr(name)) for name in unknown}
            )
        return rounds.start(*read(values))

    @lab.get("/rounds/<item>")
    def newest(item: str) -> Response:
        round = rounds.find(item)
        if wants_html():
            return see_other(url_for("lab.show", item=item, number=round.number))
        return json(stands(round))

    def stands(round: Round) -> Stands:
        return {**view(round), "left": rounds.left(round)}

    @lab.get("/rounds/<item>/<int:number>")
    def show(item: str, number: int) -> Response:
        round = rounds.find(item, number)
        if not wants_html():
            return json(stands(round))
        try:
            audit, error = asdict(auditor.audit(round)), ""
        except (StoreAway, DatabaseAway, Unreadable, WrongPair) as away:
            audit, error = None, describe(away)[1]
        way = catalogue.way(round.mode)
        again = {name: value for name, value in terms(round).items() if name in ASKED}
        again |= {"mode": way.mode.name, "recipe": way.recipe.name} if way.recipe else {}
        return page(
            "lab/rounds/round.html", round=shown(round), audit=audit, audit_error=error, again=again
        )

    @lab.post("/rounds/<item>/end")
    def end(item: str) -> Response:
        round = rounds.end(item)
        if wants_html():
            return see_other(url_for("lab.show", item=item, number=round.number))
        return json(view(round))

    @lab.get("/rounds/<item>/<int:number>/audit")
    def audit(item: str, number: int) -> Response:
        return json(auditor.audit(rounds.find(item, number)))

    @lab.get("/about")
    def about_us() -> Response:
        everything: Everything = {
            **about(),
            "modes": catalogue.modes(),
            "recipes": catalogue.recipes(),
        }
        return json(everything)

    return lab


class Stands(View):
    """A round and what is left of it: units; null, when nobody knows."""

    left: int | None


class Everything(About):
    """What this installation runs on, and all that it can sell with."""

    modes: list[CatalogueEntry]
    recipes: list[CatalogueEntry]


class Shown(View):
    """A round in the templates."""

    name: Text
    number: int


def shown(round: Round) -> Shown:
    return {**view(round), "name": ITEMS[round.item].name, "number": round.number}


def _defaults() -> dict[str, object]:
    """What the empty form shows: the demo of a lecture, five people overselling ten apples."""
    return {**terms(Round("apple", 0, 10, "naive", think=500)), "recipe": "lease"}
