"""Stampedes: start one, watch it live on as many screens as there are, stop it."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Blueprint, Response, request, url_for

from app.domain import (
    ITEMS,
    ComparisonIsOn,
    DatabaseAway,
    Invalid,
    Lacking,
    Round,
    RunIsOn,
    StockHeld,
    UnknownItem,
    UnknownRun,
    iso,
)
from app.lab.contract import BOOKS, EVENTS
from app.lab.round_form import FINE, ROUND, FormErrors, limits, linked, read, refused, round_limits
from app.lab.stampede.drivers import Drivers
from app.lab.stampede.event_stream import last_seen, nothing_more, stream
from app.lab.stampede.events import all_kept, follow
from app.lab.stampede.record import BOUNDS, Run
from app.lab.stampede.runs import Runs
from app.lab.stampede.sample import Sample
from app.server import parse
from app.server.answers import created, json, page, see_other, wants_html
from app.server.contract.operation import Answer, Operation, leads, number, string
from app.service import catalogue
from app.service.round_view import Terms, terms
from app.service.verdict import Audit
from app.text import Text

CROWD = {
    "buyers": number(Text("Buyers at once."), BOUNDS["buyers"], 16, required=True),
    "seconds": number(Text("How long they buy."), BOUNDS["seconds"], 8, required=True),
}
ASKED = ROUND | CROWD
ID = {"id": string(Text("A run's id."), "apple-0192f0c15d", required=True)}
PROBLEMS = (UnknownRun, *BOOKS)
LOOK, STOP = leads("stampede.show", id="id"), leads("stampede.stop", id="id")
WATCH = leads("stampede.events", id="id")
MOST = 30  # runs on the list


def blueprint(runs: Runs, drivers: Drivers) -> Blueprint:
    lab = Blueprint("stampede", __name__)

    @lab.get("/stampede")
    @Operation(
        Text("The stampedes' page"),
        Text("Fields of a stampede in the address fill its form in."),
        page=True,
        problems=BOOKS,
    )
    def index() -> Response:
        return form_page(linked(ASKED))

    def form_page(values: Mapping[str, object], why: FormErrors = FINE) -> Response:
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
    @Operation(
        Text("Start a stampede"),
        Text("A round with a crowd of buyers, who buy as fast as they can."),
        {201: Answer(Document, Text("It is on.")), 303: None},
        headers=("Location",),
        links={"look": LOOK, "watch": WATCH, "stop": STOP},
        problems=(Invalid, UnknownItem, RunIsOn, ComparisonIsOn, StockHeld, Lacking, *BOOKS),
        body=ASKED,
        closed=True,
    )
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
        parse.only(values, ASKED)
        crowd = {name: parse.whole(values, name) for name in CROWD}
        return runs.start(*read(values), crowd, drivers.start)

    @lab.get("/runs/<id>")
    @Operation(
        Text("A run"),
        answers={200: Answer(Document, Text("How it goes, or went."))},
        page=True,
        links={"stop": STOP},
        problems=PROBLEMS,
        path=ID,
    )
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
    @Operation(Text("Watch a run"), **EVENTS, problems=PROBLEMS, path=ID)
    def events(id: str) -> Response:
        run = runs.find(id)
        after = last_seen(request)
        if run.ended is None:
            return stream(follow(runs, run, after))
        return stream(iter(rest)) if (rest := all_kept(runs, run, after)) else nothing_more()

    @lab.post("/runs/<id>/stop")
    @Operation(
        Text("Stop a run"),
        answers={202: Answer(Document, Text("It has been asked to end.")), 303: None},
        links={"look": LOOK},
        problems=PROBLEMS,
        path=ID,
    )
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
    comparison: str | None  # id of the comparison that it is part of
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
    """Return the form's fields for another run like it."""
    entry = catalogue.parse_way(run.round.mode)
    form = {name: value for name, value in terms(run.round).items() if name in ROUND}
    form |= {"buyers": run.buyers, "seconds": run.seconds, "mode": entry.mode.name}
    return form | ({"recipe": entry.recipe.name} if entry.recipe else {})


def _defaults() -> dict[str, object]:
    """Return the empty form's values: a lecture's demo, naive, with a gap wide enough."""
    form = terms(Round("apple", 0, 100, "naive", think=20))
    return {**form, "recipe": "lease", "buyers": 32, "seconds": 30}
