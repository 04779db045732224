"""/openapi.json for programs, /contract for people: the same document."""

from __future__ import annotations

from functools import cache, partial
from importlib.metadata import version
from typing import Any, cast

from flask import Blueprint, Flask, Response, current_app
from flask.blueprints import BlueprintSetupState

from app.server.answers import json, page
from app.server.contract import shown
from app.server.contract.document import ApiSide, document
from app.server.contract.fields import LANGUAGE
from app.server.contract.operation import Answer, Operation
from app.text import Text

WHERE = {
    "header": Text("in a header"),
    "path": Text("in the path"),
    "query": Text("in the query"),
    "body": Text("in the body"),
}
COMMON_GROUPS = {
    "health": Text("Probes"),
    "contract": Text("This contract"),
    "static": Text("Files"),
}
FILES = Operation(
    Text("A file of our pages"),
    answers={200: Answer(None, Text("The file.")), 206: None, 304: None},
    other=("text/css", "text/javascript", "image/svg+xml"),
    problems=(404, 416),
)


def blueprint(side: ApiSide, frame: str) -> Blueprint:
    """Return the routes; `frame` is the template of the surrounding pages."""
    contract = Blueprint("contract", __name__)

    @contract.record
    def register(made: BlueprintSetupState) -> None:
        app = cast(Flask, made.app)
        FILES(app.view_functions["static"])
        # Made once, at the first request.
        app.extensions["contract"] = cache(lambda: document(app, side, version("lastapple")))

    def whole() -> dict[str, Any]:
        openapi_document: dict[str, Any] = current_app.extensions["contract"]()
        return openapi_document

    @contract.get("/openapi.json")
    @Operation(
        Text("This document"),
        answers={200: Answer(dict[str, Any], Text("OpenAPI 3.1."))},
        query={"language": LANGUAGE},
    )
    def openapi() -> Response:
        return json(whole())

    @contract.get("/contract")
    @Operation(Text("This document, as a page"), page=True)
    def show() -> Response:
        openapi_document = whole()
        return page(
            "server/contract/contract.html",
            frame=frame,
            document=openapi_document,
            rows=partial(shown.rows, openapi_document),
            problems=shown.problems(openapi_document, side),
            types=shown.types(openapi_document),
            where=WHERE,
        )

    return contract
