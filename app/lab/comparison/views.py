"""Comparisons: start one, watch it come together, stop it, take it away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from flask import Blueprint, Response, abort, request, url_for

from app.domain import ITEMS, ComparisonIsOn, DatabaseAway, Invalid, RunIsOn, UnknownItem
from app.lab import sources as reading
from app.lab.comparison.comparisons import Comparisons
from app.lab.comparison.exports import FORMS
from app.lab.comparison.history import entry
from app.lab.comparison.presentation import asked, document, shown
from app.lab.comparison.record import BOUNDS, MOST, Comparison
from app.lab.round_form import FINE, TIMES, Refused, limits, refused, round_limits
from app.lab.stampede.drivers import Drivers
from app.lab.stampede.event_stream import last_seen, nothing_more, stream
from app.lab.stampede.events import follow
from app.lab.stampede.record import BOUNDS as CROWD
from app.server import parse
from app.server.answers import created, json, page, see_other, wants_html
from app.text import Text

NUMBERS = (*CROWD, *BOUNDS)
FIELDS = ("item", "stock", "modes", "reference", *TIMES, *NUMBERS)
LATEST = 6  # of the past, under the form
# What the empty form shows: long enough for a ratio, short enough for a lecture.
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
    def index() -> Response:
        # A link may fill the form in: "another one like it".
        given = {name: request.args[name] for name in FIELDS if name in request.args}
        modes = {"modes": request.args.getlist("modes")} if "modes" in given else {}
        return form_page({**given, **modes})

    def form_page(values: Mapping[str, object], why: Refused = FINE) -> Response:
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
            limits=round_limits() | limits(CROWD) | limits(BOUNDS),
        )

    @lab.post("/comparisons")
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
        if unknown := sorted(values.keys() - set(FIELDS)):
            raise Invalid(
                {name: Text("A comparison has no %(field)s.", field=repr(name)) for name in unknown}
            )
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
    def show(id: str) -> Response:
        found = comparisons.find(id)
        if not wants_html():
            return json(document(found))
        return page("lab/comparison/comparison.html", **shown(found), again=asked(found))

    @lab.get("/comparisons/<id>/export.<form>")
    def export(id: str, form: str) -> Response:
        found = comparisons.find(id)
        return FORMS[form](found) if form in FORMS else abort(404)

    @lab.get("/comparisons/<id>/events")
    def events(id: str) -> Response:
        found = comparisons.find(id)
        if found.ended is None:
            return stream(follow(comparisons, found, last_seen(request)))
        return nothing_more()

    @lab.post("/comparisons/<id>/stop")
    def stop(id: str) -> Response:
        found = comparisons.stop(id)
        if wants_html():
            return see_other(url_for("compare.show", id=id))
        return json(document(found), 202)

    return lab


class Choice(TypedDict):
    """A way that can be compared; `missing` says why it cannot be, here."""

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
