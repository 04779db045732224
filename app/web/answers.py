"""What both servers answer in the same way: JSON, problems (RFC 9457), security headers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import orjson
from flask import Flask, Response, abort, current_app, render_template, request
from werkzeug.exceptions import HTTPException

from app.domain import (
    DatabaseAway,
    Invalid,
    KeyReused,
    NotOnSale,
    ShopError,
    StoreAway,
    UnknownItem,
    UnknownOrder,
    UnknownRound,
)

# kind of error -> (status, title)
PROBLEMS: dict[type[ShopError], tuple[int, str]] = {
    UnknownItem: (404, "No such item"),
    UnknownOrder: (404, "No such order"),
    UnknownRound: (404, "No such round"),
    NotOnSale: (409, "Not on sale"),
    KeyReused: (422, "Idempotency key already used"),
    Invalid: (422, "That cannot be meant"),
    StoreAway: (503, "The store is away"),
    DatabaseAway: (503, "The database is away"),
}
# What the framework itself refuses, in our words.
HTTP_WORDS = {
    404: "There is nothing at this address.",
    405: "This address does not take that kind of request.",
    413: "The body is too large: 16 KiB is the most.",
}
# What a customer is told instead of which part of us is away.
AWAY = "We cannot answer right now. Nothing is lost: try again in a moment."
RETRY_AFTER = "1"  # s
CSP = "default-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"


def json(document: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(document), status, mimetype="application/json")


def problem(status: int, title: str, detail: str, **members: Any) -> Response:
    """An error as application/problem+json; 503 says when to try again."""
    document = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    answer = Response(orjson.dumps(document | members), status, mimetype="application/problem+json")
    if status == 503:
        answer.headers["Retry-After"] = RETRY_AFTER
    return answer


def iso(ms: int | None) -> str | None:
    """A moment in ms since 1970 as ISO 8601 text in UTC."""
    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC).isoformat()


def wants_html() -> bool:
    """A page, or JSON? JSON in, JSON out; forms and browsers get pages."""
    if request.mimetype == "application/json":
        return False
    offers = ["application/json", "text/html"]
    if request.method == "POST":
        offers.reverse()  # a form sent by a client that accepts anything
    return request.accept_mimetypes.best_match(offers, offers[0]) == "text/html"


def see_other(url: str) -> Response:
    """After a form: 303, so that a reload does not send it again."""
    return Response(status=303, headers={"Location": url})


def page(template: str, status: int = 200, **context: Any) -> Response:
    text = render_template(template, status=status, **context)
    answer = Response(text, status, mimetype="text/html")
    if status == 503:
        answer.headers["Retry-After"] = RETRY_AFTER
    return answer


def describe(error: Exception) -> tuple[int, str, str, dict[str, Any]]:
    """(status, title, detail, further members) of an error, in a customer's words."""
    if isinstance(error, HTTPException):
        words = HTTP_WORDS.get(error.code or 500, error.description or error.name)
        return error.code or 500, error.name, words, {}
    status, title = PROBLEMS[type(error)] if isinstance(error, ShopError) else (500, "Our fault")
    if status >= 500:
        current_app.logger.error("%s: %s", title, error, exc_info=status == 500)
        return status, title, AWAY, {}
    members = {"errors": error.errors} if isinstance(error, Invalid) else {}
    return status, title, str(error), members


def register(app: Flask, template: str) -> None:
    """Give `app` the error answers (`template` for pages) and the headers.

    Whatever is raised becomes a problem or a page; a stack trace goes to the log only.
    """

    @app.errorhandler(Exception)
    def failed(error: Exception) -> Response:
        status, title, detail, members = describe(error)
        if wants_html():
            answer = page(template, status, title=title, detail=detail)
        else:
            answer = problem(status, title, detail, **members)
        if isinstance(error, HTTPException):
            for name, value in error.get_headers():
                if name == "Allow":
                    answer.headers[name] = value
        return answer

    @app.before_request
    def same_origin() -> None:
        """No other site's page may press our buttons: buy in a visitor's name, start a round."""
        origin = request.headers.get("Origin")
        if request.method == "POST" and origin and urlsplit(origin).netloc != request.host:
            abort(403, "Only our own pages may send this.")

    @app.after_request
    def protect(answer: Response) -> Response:
        answer.headers["X-Content-Type-Options"] = "nosniff"
        if request.endpoint != "static":
            answer.headers["Cache-Control"] = "no-store"  # stock and keys are of this moment
        if answer.mimetype == "text/html":
            answer.headers["Content-Security-Policy"] = CSP
            answer.headers["Referrer-Policy"] = "same-origin"
        return answer
