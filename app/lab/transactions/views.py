"""MULTI and EXEC next to BEGIN and COMMIT: both servers' replies, step by step."""

from __future__ import annotations

from typing import Literal, TypedDict

from flask import Blueprint, Response, abort, request, url_for

from app.domain import Invalid
from app.lab.bad_links import NOT_PLAYED, no_such_step
from app.lab.explorer.views import STEP
from app.lab.transactions import CASES, Result
from app.lab.transactions.meaning import meanings
from app.lab.transactions.recordings import NotPlayed, Recordings
from app.server.answers import json, page, problem, see_other, type_of, wants_html
from app.server.contract.operation import Answer, Operation, leads, string
from app.text import Text

PLAYED_S = 1.0  # s a page waits for both servers before it says that they are at work
AGAIN = 2  # s after which a page without scripts reloads
NUMBERS = {case.name: number for number, case in enumerate(CASES, 1)}
PROBLEMS = (Invalid, "not-played")


def blueprint(recordings: Recordings) -> Blueprint:
    lab = Blueprint("transactions", __name__, url_prefix="/transactions")
    working = Answer(Playing, Text("Both servers are at work: ask again."), links={})

    @lab.get("")
    @Operation(
        Text("MULTI next to BEGIN"),
        Text("What a Valkey and a PostgreSQL said in each case; a page has the first one."),
        {200: list[Result], 202: working},
        page=True,
        links={"first": leads("transactions.one", name="0/name")},
        problems=PROBLEMS,
        query={"step": STEP},
    )
    def index() -> Response:
        return one(CASES[0].name)

    @lab.get("/<name>")
    @Operation(
        Text("One case"),
        answers={200: Result, 202: working},
        page=True,
        problems=PROBLEMS,
        path={"name": string(Text("A case's name."), CASES[0].name, NUMBERS, required=True)},
        query={"step": STEP},
    )
    def one(name: str) -> Response:
        if name not in NUMBERS:
            abort(404)
        results = recordings.results(PLAYED_S)
        if results is None:
            return page("lab/transactions/playing.html", again=AGAIN) if wants_html() else waiting()
        if not wants_html():
            return json(
                list(results.values()) if request.path == url_for(".index") else results[name]
            )
        return shown(results[name])

    @lab.post("")
    @Operation(
        Text("Play all cases again"),
        answers={202: working, 303: None},
        problems=("not-played",),
        body={
            "case": string(
                Text("Of a form: the case whose page is shown then."), CASES[0].name, NUMBERS
            )
        },
    )
    def again() -> Response:
        recordings.again()
        if not wants_html():
            return waiting()
        case = request.form.get("case", "")
        return see_other(url_for(".one", name=case) if case in NUMBERS else url_for(".index"))

    @lab.errorhandler(NotPlayed)
    def not_played(error: NotPlayed) -> Response:
        if not wants_html():
            return problem(503, NOT_PLAYED, str(error), type=type_of("not-played"))
        return page("lab/transactions/away.html", 503, title=NOT_PLAYED, why=str(error))

    return lab


class Playing(TypedDict):
    """Both servers are at work: ask again."""

    playing: Literal[True]


def waiting() -> Response:
    still: Playing = {"playing": True}
    return json(still, 202)


def shown(result: Result) -> Response:
    sides = [("Valkey", result.valkey), ("PostgreSQL", result.postgresql)]
    last = max(len(side.steps) for _, side in sides)
    at = request.args.get("step", "0")
    if not (at.isascii() and at.isdigit() and len(at) < 4 and int(at) <= last):
        raise Invalid({"step": no_such_step(last)})
    number = NUMBERS[result.name]
    return page(
        "lab/transactions/index.html",
        cases=CASES,
        case=CASES[number - 1],
        number=number,
        sides=[(name, side, meanings(side.steps)) for name, side in sides],
        last=last,
        at=int(at),
    )
