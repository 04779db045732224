"""The history of what was measured here: stampedes and comparisons, newest first, page by page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from flask import Blueprint, Response, request

from app.domain import Invalid, Unreadable
from app.lab.comparison.comparisons import Comparisons
from app.lab.comparison.presentation import document, listed
from app.lab.comparison.record import Comparison
from app.lab.contract import BOOKS
from app.lab.stampede.record import Run
from app.lab.stampede.views import document as run_document
from app.lab.stampede.views import listed as run_listed
from app.server import parse
from app.server.answers import json, page, said, wants_html
from app.server.contract.operation import Field, Operation
from app.text import Text

MOST = 20  # on a page
LAST = 100_000  # no history has more pages, and no database need count so far


def blueprint(comparisons: Comparisons) -> Blueprint:
    lab = Blueprint("history", __name__)

    @lab.get("/history")
    @Operation(
        Text("All that was measured"),
        Text("The newest first, page by page."),
        {200: Past},
        page=True,
        problems=(Invalid, *BOOKS),
        query={
            "page": Field(
                Text("Which page; the first is 1."),
                *({"type": "integer", "minimum": 1, "maximum": LAST}, 1),
            )
        },
    )
    def index() -> Response:
        number = parse.whole(request.args, "page", 1)
        if not 1 <= number <= LAST:
            raise Invalid({"page": Text("There is no page %(number)s.", number=str(number))})
        entries = comparisons.past((number - 1) * MOST, MOST + 1)
        shown, more = entries[:MOST], len(entries) > MOST
        if not wants_html():
            past = [wire(each) for each in shown]
            some: Past = {"page": number, "more": more, "past": past}
            return json(some)
        return page(
            "lab/comparison/history.html",
            past=[entry(each) for each in shown],
            number=number,
            more=more,
        )

    return lab


class Past(TypedDict):
    """One page of the history; each entry's `kind` is run, comparison or unreadable."""

    page: int
    more: bool  # there are older ones
    past: list[Mapping[str, Any]]


def wire(past: Run | Comparison | Unreadable) -> Mapping[str, Any]:
    if isinstance(past, Unreadable):
        return _unreadable(past)
    if isinstance(past, Comparison):
        return {"kind": "comparison", **document(past)}
    return {"kind": "run", **run_document(past)}


def entry(past: Run | Comparison | Unreadable) -> Mapping[str, object]:
    """Return an entry as a list in the templates shows it."""
    if isinstance(past, Unreadable):
        return _unreadable(past)
    if isinstance(past, Comparison):
        return {"kind": "comparison", **listed(past)}
    return {"kind": "run", **run_listed(past)}


def _unreadable(error: Unreadable) -> Mapping[str, object]:
    return {"kind": "unreadable", "why": said(error)}
