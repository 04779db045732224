"""The classroom on the projector: the phones' way in, the members, the sale, the verdict."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import Any

import segno
from flask import Blueprint, Response, request, stream_with_context
from markupsafe import Markup

from app.domain import (
    ClassIsOn,
    DatabaseAway,
    Invalid,
    Lacking,
    Round,
    RunIsOn,
    StockHeld,
    StoreAway,
    Unreadable,
    WrongPair,
)
from app.lab.classroom.events import Event, Watch, follow
from app.lab.classroom.sale import ClassSale, Phase, Standing
from app.lab.contract import BOOKS, EVENTS
from app.lab.round_form import ROUND, at_fields, linked, read, round_limits
from app.lab.rounds.views import LINKS
from app.lab.rounds.views import shown as shown_round
from app.server import parse
from app.server.answers import describe, json, page, see_other, wants_html
from app.server.contract.operation import Answer, Operation, leads, string
from app.server.translation import dumps
from app.service import catalogue
from app.service.classroom.members import ITEM, Members
from app.service.round_view import View, view
from app.text import Text

EVENT_ID = re.compile(r"[0-9a-f]{0,16}\.[0-9a-f]{0,16}")
# A pause too short for a class to notice, in which thirty people collide; and, with `watch`, short
# enough for ten apples to be sold within a patient customer's time: 10 x 0.4 s.
DEMO = {"stock": 10, "mode": "naive", "think_ms": 400, "delay_ms": 20_000, "wait_ms": 15_000}
ASKED = {name: replace(ROUND[name], required=False) for name in DEMO}
PHONE = string(Text("A phone's id, as the events tell it."))
PROBLEMS = (Lacking, *BOOKS)


def blueprint(sale: ClassSale, members: Members, addresses: Callable[[], list[str]]) -> Blueprint:
    lab = Blueprint("classroom", __name__)

    @lab.get("/classroom")
    @Operation(
        Text("The classroom's page"),
        Text("Fields of the sale in the address fill its form in."),
        page=True,
        problems=PROBLEMS,
    )
    def show() -> Response:
        return the_page(linked(ASKED), {})

    def the_page(
        values: dict[str, Any], errors: dict[str, str], status: int = 200, refused: str = ""
    ) -> Response:
        watch = Watch(sale, members)
        try:
            standing = watch.standing()
            names, away = watch.names(standing), ""
        except (StoreAway, DatabaseAway, WrongPair) as error:
            standing, names, away = Standing(Phase.IDLE), [], describe(error)[2]
        ways_in = addresses()
        chosen = request.args.get("address")
        address = chosen if chosen in ways_in else next(iter(ways_in), "")
        return page(
            "lab/classroom/classroom.html",
            status,
            stage=document(standing),
            round=standing.round and shown_round(standing.round),
            opens_in=sale.rounds.opens_in(standing.round) if standing.round else 0,
            names=names,
            away=away,
            address=address and f"{address}/class",
            qr=address and qr(f"{address}/class"),
            others=[each for each in ways_in if each != address],
            form=DEMO | _like(standing.round) | values,
            again=again(standing.round),
            errors=errors,
            refused=refused,
            modes=catalogue.modes(),
            limits=round_limits(),
        )

    @lab.post("/classroom/sale")
    @Operation(
        Text("Start the class's sale"),
        Text("Fields that you leave out have the values of the demonstration."),
        {201: Answer(View, Text("It counts down.")), 303: None},
        links={
            "close": leads("classroom.close", number="round"),
            **{name: LINKS[name] for name in ("look", "audit")},
        },
        problems=(Invalid, ClassIsOn, RunIsOn, StockHeld, *PROBLEMS),
        body=ASKED,
        closed=True,
    )
    def start() -> Response:
        values = parse.body(request)
        try:
            round = _start(values)
        except (Invalid, ClassIsOn, RunIsOn, StockHeld, Unreadable) as error:
            if not wants_html():
                raise
            status, _, detail, _ = describe(error)
            if isinstance(error, Invalid):
                return the_page(values, at_fields(error, values), status)
            return the_page({}, {}, status, detail)
        return see_other("/classroom") if wants_html() else json(view(round), 201)

    def _start(values: dict[str, Any]) -> Round:
        parse.only(values, ASKED)
        _, mode, stock, times = read(DEMO | values | {"item": ITEM})
        return sale.start(mode, stock, times)

    @lab.post("/classroom/new")
    @Operation(
        Text("A new class"),
        Text("Screens and phones forget the one before; the books do not."),
        {200: Answer(dict[str, str], Text("It can join."), {"phase": "idle"}), 303: None},
        problems=(ClassIsOn, *PROBLEMS),
    )
    def new() -> Response:
        try:
            sale.begin_class()
        except ClassIsOn as error:
            if not wants_html():
                raise
            status, _, detail, _ = describe(error)
            return the_page({}, {}, status, detail)
        return see_other("/classroom") if wants_html() else json({"phase": Phase.IDLE})

    @lab.post("/classroom/close/<int:number>")
    @Operation(
        Text("Close the sale"),
        Text("Ends that round only: a late request does not end the next one."),
        {202: Answer(dict[str, int], Text("It closes."), {"round": 1}), 303: None},
        problems=BOOKS,
    )
    def close(number: int) -> Response:
        sale.close(number)
        return see_other("/classroom") if wants_html() else json({"round": number}, 202)

    @lab.post("/classroom/names")
    @Operation(
        Text("Hide a nickname, or show it again"),
        answers={200: dict[str, str], 303: None},
        problems=(Invalid, *BOOKS),
        body={"hide": PHONE, "show": replace(PHONE, example="0192f0c15d3e7c41")},
    )
    def names() -> Response:
        values = parse.body(request)
        for deed, do in (("hide", members.hide), ("show", members.show)):
            if deed in values:
                do(parse.text(values, deed))
                return see_other("/classroom") if wants_html() else json({deed: values[deed]})
        raise Invalid({"hide": Text("Say whose nickname is to be hidden.")})

    @lab.get("/classroom/events")
    @Operation(
        Text("Watch the class"),
        **EVENTS | {"answers": {200: EVENTS["answers"][200]}},
        problems=BOOKS,
    )
    def events() -> Response:
        last = request.headers.get("Last-Event-ID", "")
        after = last if EVENT_ID.fullmatch(last) else ""
        changes = follow(sale, members, after, document)
        wired = (_wire(event, sale.rounds.now) for event in changes)
        lines = stream_with_context(chain([b"retry: 1000\n\n"], wired))
        answer = Response(lines, mimetype="text/event-stream")
        answer.headers["X-Accel-Buffering"] = "no"
        return answer

    return lab


def _wire(event: Event | None, now: Callable[[], int]) -> bytes:
    if event is None:
        return b":\n\n"
    id = f"id: {event.id}\n" if event.id else ""
    subject = event.subject
    if event.kind == "sale":  # computed when it is sent
        subject = subject | {"opens_in_ms": max(0, subject["opens"] - now())}
    return f"{id}event: {event.kind}\n".encode() + b"data: " + dumps(subject) + b"\n\n"


def document(standing: Standing) -> dict[str, Any]:
    """Return a standing on the wire; nothing in it changes by itself."""
    round, audit = standing.round, standing.audit
    return {
        "phase": standing.phase,
        "round": round.number if round else 0,
        "stock": round.stock if round else 0,
        "opens": round.opens if round else 0,
        "left": standing.left,
        "sold": standing.sold,
        "verdict": audit.verdict if audit and standing.phase is Phase.OVER else "settling",
        "sentence": audit.sentence if audit else "",
    }


def again(round: Round | None) -> dict[str, Any] | None:
    """Return the form's fields for the same sale with the lesson's other mode."""
    if round is None:
        return None
    return _like(round) | {"mode": "naive" if round.mode == "watch" else "watch"}


def _like(round: Round | None) -> dict[str, Any]:
    """Return the form's fields of a round."""
    if round is None:
        return {}
    return {name: value for name, value in view(round).items() if name in ASKED}


def qr(address: str) -> Markup:
    """Draw the address without inline styles, which the page's policy would block."""
    code = segno.make(address, error="m", micro=False)
    drawn = code.svg_inline(omitsize=True, svgclass="qr", lineclass=None, light="#fff")
    return Markup(drawn)  # noqa: S704  lines by their numbers; the address is in no text of it
