"""Stampedes: start one, watch it live on as many screens as there are, stop it."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Blueprint, Response, request, url_for

from app.domain import (
    ITEMS,
    ComparisonIsOn,
    DatabaseAway,
    Invalid,
    Round,
    RunIsOn,
    UnknownItem,
    iso,
)
from app.lab.round_form import FIELDS, FINE, Refused, limits, read, refused, round_limits
from app.lab.stampede.drivers import Drivers
from app.lab.stampede.event_stream import last_seen, nothing_more, stream
from app.lab.stampede.events import all_kept, follow
from app.lab.stampede.record import BOUNDS, Run
from app.lab.stampede.runs import Runs
from app.lab.stampede.sample import Sample
from app.server import parse
from app.server.answers import created, json, page, see_other, wants_html
from app.service import catalogue
from app.service.round_view import Terms, terms
from app.service.verdict import Audit
from app.text import Text

CROWD = tuple(BOUNDS)
MOST = 30  # runs on the list


def blueprint(runs: Runs, drivers: Drivers) -> Blueprint:
    lab = Blueprint("stampede", __name__)

    @lab.get("/stampede")
    def index() -> Response:
        # A link may fill the form in: "start another like it".
        names = (*FIELDS, *CROWD)
        return form_page({name: request.args[name] for name in names if name in request.args})

    def form_page(values: Mapping[str, object], why: Refused = FINE) -> Response:
        try:
            ended = [listed(run) for run in runs.latest(MOST)]
        except DatabaseAway:
            ended = None
        return page(
            "lab/stampede/stampede.html",
            why.status,
            on=[listed(run) for run in runs.on()],
            ended=ended,
            form={**_defaults(), **values},
            errors=why.errors,
            run=why.run,
            comparison=why.comparison,
            items=ITEMS.values(),
            modes=catalogue.modes(),
            recipes=catalogue.recipes(),
            limits=round_limits() | limits(BOUNDS),
        )

    @lab.post("/runs")
    def start() -> Response:
        values = parse.body(request)
        try:
            run = _start(values)
        except (Invalid, UnknownItem, RunIsOn, ComparisonIsOn) as error:
            if not wants_html():
                raise
            return form_page(values, refused(error, values))
        where = url_for("stampede.show", id=run.id)
        if wants_html():
            return see_other(where)
        return created(document(run), where)

    def _start(values: Mapping[str, object]) -> Run:
        if unknown := sorted(values.keys() - {*FIELDS, *CROWD}):
            raise Invalid(
                {name: Text("A stampede has no %(field)s.", field=repr(name)) for name in unknown}
            )
        crowd = {name: parse.whole(values, name) for name in CROWD}
        return runs.start(*read(values), crowd, drivers.start)

    @lab.get("/runs/<id>")
    def show(id: str) -> Response:
        run = runs.find(id)
        if not wants_html():
            return json({**document(run), "figures": runs.figures(run)})
        return page(
            "lab/stampede/run.html",
            run=listed(run),
            seen=runs.figures(run),
            audit=run.audit,
            again=_again(run),
        )

    @lab.get("/runs/<id>/events")
    def events(id: str) -> Response:
        run = runs.find(id)
        after = last_seen(request)
        if run.ended is None:
            return stream(follow(runs, run, after))
        return stream(iter(rest)) if (rest := all_kept(runs, run, after)) else nothing_more()

    @lab.post("/runs/<id>/stop")
    def stop(id: str) -> Response:
        run = runs.stop(id)
        if wants_html():
            return see_other(url_for("stampede.show", id=id))
        return json(document(run), 202)

    return lab


class Document(Terms):
    """A run on the wire. Moments are ISO 8601 in UTC; null: not yet, or none."""

    id: str
    buyers: int
    seconds: int  # that it may sell
    running: bool
    comparison: str | None  # id of the one that it is part of
    how: str | None  # a How
    why: str
    started_at: str | None
    ended_at: str | None
    figures: Sample
    audit: Audit | None


def document(run: Run) -> Document:
    return {
        "id": run.id,
        **terms(run.round),
        "buyers": run.buyers,
        "seconds": run.seconds,
        "running": run.ended is None,
        "comparison": run.comparison or None,
        "how": run.how or None,
        "why": run.why,
        "started_at": iso(run.started),
        "ended_at": iso(run.ended),
        "figures": run.figures,
        "audit": run.audit,
    }


class Listed(Document):
    """A run in the templates."""

    name: Text


def listed(run: Run) -> Listed:
    return {**document(run), "name": ITEMS[run.item].name}


def _again(run: Run) -> dict[str, object]:
    """The form's fields for another one like it."""
    way = catalogue.way(run.round.mode)
    asked = {name: value for name, value in terms(run.round).items() if name in FIELDS}
    asked |= {"buyers": run.buyers, "seconds": run.seconds, "mode": way.mode.name}
    return asked | ({"recipe": way.recipe.name} if way.recipe else {})


def _defaults() -> dict[str, object]:
    """What the empty form shows: the demo of a lecture, naive, with a gap wide enough."""
    asked = terms(Round("apple", 0, 100, "naive", think=20))
    return {**asked, "recipe": "lease", "buyers": 32, "seconds": 30}
