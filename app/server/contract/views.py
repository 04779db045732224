"""/openapi.json for programs, /contract for people: the same document."""

from __future__ import annotations

from functools import cache, partial
from importlib.metadata import version
from typing import Any, cast

from flask import Blueprint, Flask, Response, current_app
from flask.blueprints import BlueprintSetupState

from app.server.answers import json, page
from app.server.contract import shown
from app.server.contract.document import Side, document
from app.text import Text

WHERE = {
    "header": Text("in the head"),
    "path": Text("in the path"),
    "query": Text("in the query"),
    "body": Text("in the body"),
}


def blueprint(side: Side, frame: str) -> Blueprint:
    """`frame` is the template of the pages around."""
    contract = Blueprint("contract", __name__)

    @contract.record
    def register(made: BlueprintSetupState) -> None:
        app = cast(Flask, made.app)
        # Made once, for the first who asks.
        app.extensions["contract"] = cache(lambda: document(app, side, version("lastapple")))

    def whole() -> dict[str, Any]:
        found: dict[str, Any] = current_app.extensions["contract"]()
        return found

    @contract.get("/openapi.json")
    def openapi() -> Response:
        return json(whole())

    @contract.get("/contract")
    def show() -> Response:
        said = whole()
        return page(
            "server/contract/contract.html",
            frame=frame,
            document=said,
            rows=partial(shown.rows, said),
            problems=shown.problems(said, side),
            types=shown.types(said),
            where=WHERE,
        )

    return contract
