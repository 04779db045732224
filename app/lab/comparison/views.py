"""Comparisons: start, watch, stop and export them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from flask import Blueprint, Response, abort, request, url_for

from app.domain import (
    ITEMS,
    ComparisonIsOn,
    DatabaseAway,
    Invalid,
    Lacking,
    RunIsOn,
    UnknownComparison,
    UnknownItem,
)
from app.lab import sources as reading
from app.lab.comparison.comparisons import Comparisons
from app.lab.comparison.exports import FORMS
from app.lab.comparison.history import entry
from app.lab.comparison.presentation import Document, asked, document, shown
from app.lab.comparison.record import BOUNDS, FEWEST, MOST, Comparison
from app.lab.contract import BOOKS, EVENTS
from app.lab.round_form import (
    FINE,
    MODES,
    STOCK,
    TIMES,
    TIMES_ASKED,
    FormErrors,
    limits,
    linked,
    refused,
    round_limits,
)
from app.lab.stampede.drivers import Drivers
from app.lab.stampede.event_stream import last_seen, nothing_more, stream
from app.lab.stampede.events import follow
from app.lab.stampede.record import BOUNDS as CROWD_BOUNDS
from app.lab.stampede.views import CROWD
from app.server import parse
from app.server.answers import created, json, page, see_other, wants_html
from app.server.contract.fields import ITEM
from app.server.contract.operation import Answer, Field, Link, Operation, leads, number, string
from app.text import Text

NUMBERS = (*CROWD, *BOUNDS)
ASKED = {
    **{"item": ITEM, "stock": STOCK},
    "modes": Field(
        Text("The ways to compare, with the reference among them."),
        {
            **{"type": "array", "minItems": FEWEST, "maxItems": MOST, "uniqueItems": True},
            "items": {"type": "string", "enum": MODES},
        },
        ["naive", "watch", "atomic"],
        required=True,
    ),
    "reference": string(
        Text("The way that the others are measured against."), "naive", MODES, required=True
    ),
    **{**TIMES_ASKED, **CROWD},
    "repeats": number(Text("Runs of each way."), BOUNDS["repeats"], 3, required=True),
}
ID = {"id": string(Text("A comparison's id."), "comparison-0192f0c15d", required=True)}
PROBLEMS = (UnknownComparison, *BOOKS)
LOOK, STOP = leads("compare.show", id="id"), leads("compare.stop", id="id")
WATCH, RUN = leads("compare.events", id="id"), leads("stampede.show", id="run")
TAKE = Link("compare.export", {"id": "$response.body#/id", "form": "csv"})
LATEST = 6  # of the past, under the form
# Values of the empty form: long enough for a ratio, short enough for a lecture.
DEFAULTS = {
    "item": "apple",
    "stock": 200,
    "modes": ["naive", "watch", "lock:lease", "atomic"],
    "reference": "naive",
    "think_ms": 20,
    "lease_ms": 10_000,
    "wait_ms": 5_000,
    "buyers": 16,
    "seconds": 8,
    "repeats": 3,
}


def blueprint(comparisons: Comparisons, drivers: Drivers) -> Blueprint:
    lab = Blueprint("compare", __name__)

    @lab.get("/compare")
    @Operation(
        Text("The comparisons' page"),
        Text("Fields of a comparison in the address fill its form in."),
        page=True,
        problems=BOOKS,
    )
    def index() -> Response:
        given = linked(ASKED)
        modes = {"modes": request.args.getlist("modes")} if "modes" in given else {}
        return form_page({**given, **modes})

    def form_page(values: Mapping[str, object], why: FormErrors = FINE) -> Response:
        try:
            past = [entry(each) for each in comparisons.past(0, LATEST)]
        except DatabaseAway:
            past = None
        on = comparisons.on()
        return page(
            "lab/comparison/compare.html",
            why.status,
            on=on and shown(on),
            past=past,
            form={**DEFAULTS, **values},
            errors=why.errors,
            run=why.run,
            comparison=why.comparison,
            items=ITEMS.values(),
            ways=ways(comparisons),
            most=MOST,
            limits=round_limits() | limits(CROWD_BOUNDS) | limits(BOUNDS),
        )

    @lab.post("/comparisons")
    @Operation(
        Text("Start a comparison"),
        Text("Runs of several ways to sell, one after the other. A form repeats `modes`."),
        {201: Answer(Document, Text("It is on.")), 303: None},
        headers=("Location",),
        links={"look": LOOK, "watch": WATCH, "stop": STOP},
        problems=(Invalid, UnknownItem, RunIsOn, ComparisonIsOn, Lacking, *BOOKS),
        body=ASKED,
        closed=True,
    )
    def start() -> Response:
        values = parse.body(request)
        if request.mimetype in parse.FORMS:
            values["modes"] = request.form.getlist("modes")
        try:
            begun = _start(values)
        except (Invalid, UnknownItem, RunIsOn, ComparisonIsOn) as error:
            if not wants_html():
                raise
            return form_page(values, refused(error, values))
        where = url_for("compare.show", id=begun.id)
        if wants_html():
            return see_other(where)
        return created(document(begun), where)

    def _start(values: Mapping[str, object]) -> Comparison:
        parse.only(values, ASKED)
        return comparisons.start(
            parse.text(values, "item"),
            parse.texts(values, "modes"),
            parse.text(values, "reference"),
            parse.whole(values, "stock"),
            {inner: parse.whole(values, name) for name, inner in TIMES.items() if name in values},
            {name: parse.whole(values, name) for name in NUMBERS},
            lambda comparison: drivers.launch("comparison", comparison.id),
        )

    @lab.get("/comparisons/<id>")
    @Operation(
        Text("A comparison"),
        answers={200: Answer(Document, Text("How it goes, or went."))},
        page=True,
        links={"stop": STOP, "run": RUN, "take": TAKE},
        problems=PROBLEMS,
        path=ID,
    )
    def show(id: str) -> Response:
        comparison = comparisons.find(id)
        if not wants_html():
            return json(document(comparison))
        return page("lab/comparison/comparison.html", **shown(comparison), again=asked(comparison))

    @lab.get("/comparisons/<id>/export.<form>")
    @Operation(
        Text("A comparison to take away"),
        answers={200: Document},
        page=True,
        other=("text/csv",),
        headers=("Content-Disposition",),
        problems=PROBLEMS,
        path=ID | {"form": string(Text("What kind of file."), "csv", FORMS, required=True)},
    )
    def export(id: str, form: str) -> Response:
        comparison = comparisons.find(id)
        return FORMS[form](comparison) if form in FORMS else abort(404)

    @lab.get("/comparisons/<id>/events")
    @Operation(Text("Watch a comparison"), **EVENTS, problems=PROBLEMS, path=ID)
    def events(id: str) -> Response:
        comparison = comparisons.find(id)
        if comparison.ended is None:
            return stream(follow(comparisons, comparison, last_seen(request)))
        return nothing_more()

    @lab.post("/comparisons/<id>/stop")
    @Operation(
        Text("Stop a comparison"),
        answers={202: Answer(Document, Text("It has been asked to end.")), 303: None},
        links={"look": LOOK, "take": TAKE},
        problems=PROBLEMS,
        path=ID,
    )
    def stop(id: str) -> Response:
        comparison = comparisons.stop(id)
        if wants_html():
            return see_other(url_for("compare.show", id=id))
        return json(document(comparison), 202)

    return lab


class Choice(TypedDict):
    """A way that can be compared; `missing` says why it cannot be measured here."""

    name: str
    label: Text
    exhibit: bool
    missing: str


def ways(comparisons: Comparisons) -> list[Choice]:
    return [
        {
            "name": name,
            "label": entry.label,
            "exhibit": entry.exhibit,
            "missing": comparisons.runs.rounds.missing(name),
        }
        for name, entry in reading.ways().items()
        if not entry.takes_recipe
    ]
