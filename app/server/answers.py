"""Answers of both servers: JSON, problems (RFC 9457), security headers."""

from __future__ import annotations

import re
from functools import reduce
from typing import Any

from flask import Flask, Response, abort, current_app, render_template, request
from werkzeug.exceptions import HTTPException

from app.domain import (
    AlreadyPaid,
    Away,
    CannotSell,
    ClassIsOn,
    ComparisonIsOn,
    DatabaseAway,
    ForTheClass,
    HoldOver,
    InDoubt,
    Invalid,
    KeyReused,
    Lacking,
    Newer,
    NotBooked,
    NotOnSale,
    NotOpen,
    RunIsOn,
    ShopError,
    StockHeld,
    StoreAway,
    TooOften,
    UnknownComparison,
    UnknownForm,
    UnknownItem,
    UnknownOrder,
    UnknownRound,
    UnknownRun,
    UnknownWay,
    Unreadable,
    WrongDatabase,
    WrongPair,
)
from app.server.addresses import host_in
from app.server.translation import dumps, say
from app.service.request import current as request_id
from app.text import Text, together

# kind of error -> (status, title)
PROBLEMS: dict[type, tuple[int, Text]] = {
    UnknownItem: (404, Text("No such item")),
    UnknownOrder: (404, Text("No such order")),
    UnknownRound: (404, Text("No such round")),
    UnknownWay: (404, Text("No such mode or recipe")),
    UnknownRun: (404, Text("No such run")),
    RunIsOn: (409, Text("A run is on")),
    UnknownComparison: (404, Text("No such comparison")),
    ComparisonIsOn: (409, Text("A comparison is on")),
    ClassIsOn: (409, Text("The sale is on")),
    StockHeld: (409, Text("Not started yet")),
    NotOnSale: (409, Text("Not on sale")),
    NotOpen: (409, Text("Not open yet")),
    ForTheClass: (409, Text("For the class only")),
    AlreadyPaid: (409, Text("Paid for")),
    HoldOver: (410, Text("Held no more")),
    NotBooked: (410, Text("Not booked")),
    Lacking: (409, Text("Something was lost")),
    WrongPair: (409, Text("Store and database do not match")),
    Newer: (409, Text("Made by a newer version")),
    Unreadable: (409, Text("Not readable here")),
    KeyReused: (422, Text("Idempotency key already used")),
    UnknownForm: (422, Text("This page is too old")),
    Invalid: (422, Text("Invalid input")),
    TooOften: (429, Text("Too many requests")),
    CannotSell: (503, Text("Cannot be sold here")),
    StoreAway: (503, Text("The store is away")),
    DatabaseAway: (503, Text("The database is away")),
    WrongDatabase: (503, Text("The database is away")),
    InDoubt: (503, Text("In doubt")),
}
OUR_FAULT = (500, Text("Our fault"))
# Refusals by the framework itself: the status in words, and what it means.
HTTP_WORDS = {
    400: (Text("Bad Request"), Text("We cannot make sense of this request.")),
    403: (Text("Forbidden"), Text("This is not for you.")),
    404: (Text("Not Found"), Text("There is nothing at this address.")),
    405: (Text("Method Not Allowed"), Text("This address does not take that kind of request.")),
    408: (Text("Request Timeout"), Text("The body of this request did not come in time.")),
    411: (Text("Length Required"), Text("Say how long the body is (Content-Length).")),
    413: (Text("Request Entity Too Large"), Text("The body is too large: 16 KiB is the most.")),
    415: (Text("Unsupported Media Type"), Text("Send a form or application/json.")),
    416: (Text("Range Not Satisfiable"), Text("The file has no such part.")),
}
CONTRACT = "/contract"  # the page that says what each type of problem means, and when
# Each hides from a customer which part of the shop is away. AWAY: nothing was done.
AWAY = Text("We cannot answer right now. Nothing is lost: try again in a moment.")
UNSURE = Text("We cannot tell whether this was done. Look before you press again.")
IN_DOUBT = Text(
    "We cannot tell whether this went through. Try again with the same key: it never buys twice."
)
PRESS_AGAIN = Text(
    "We cannot tell whether this went through. Press the same again: it counts once."
)
RETRY_AFTER = "1"  # s
CSP = "default-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"


def json(document: Any, status: int = 200) -> Response:
    return Response(dumps(document), status, mimetype="application/json")


def created(document: Any, where: str) -> Response:
    """Return a 201 answer; the new thing can be read at `where`."""
    answer = json(document, 201)
    answer.headers["Location"] = where
    return answer


def problem(status: int, title: str, detail: str, **members: Any) -> Response:
    """Return an error as application/problem+json; 503 says when to retry.

    `request` is the id by which the shop's operator finds the request in the logs. The default
    `type` says no more than the status does.
    """
    document = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    document |= {"request": request_id.get()}
    answer = Response(dumps(document | members), status, mimetype="application/problem+json")
    if status == 503:
        answer.headers["Retry-After"] = RETRY_AFTER
    return answer


def kind(error: type) -> str:
    """Return an error's name in the contract: KeyReused is `key-reused`."""
    return re.sub(r"\B(?=[A-Z])", "-", error.__name__).lower()


def type_of(name: str) -> str:
    """Return the address by which programs know a problem, whatever its title's language."""
    return f"{CONTRACT}#{name}"


def wants_html() -> bool:
    """Return whether the client gets a page: JSON in, JSON out; forms and browsers get pages."""
    if request.mimetype == "application/json":
        return False
    offers = ["application/json", "text/html"]
    if request.method == "POST":
        offers.reverse()  # a form sent by a client that accepts anything
    return request.accept_mimetypes.best_match(offers, offers[0]) == "text/html"


def see_other(url: str) -> Response:
    """Answer a form with 303, so that a reload does not send the form again."""
    return Response(status=303, headers={"Location": url})


def page(template: str, status: int = 200, **context: Any) -> Response:
    text = render_template(template, status=status, **context)
    answer = Response(text, status, mimetype="text/html")
    if status == 503:
        answer.headers["Retry-After"] = RETRY_AFTER
    return answer


def describe(error: Exception) -> tuple[int, str, str, dict[str, object]]:
    """Return (status, title, detail, further members) of an error, in a customer's words."""
    if isinstance(error, HTTPException):
        status = error.code or 500
        title, words = HTTP_WORDS.get(status, (error.name, error.description or error.name))
        ours = error.description if isinstance(error.description, Text) else None
        return status, title, ours or words, {}
    known = next((each for each in type(error).__mro__ if each in PROBLEMS), None)
    status, title = PROBLEMS[known] if known else OUR_FAULT
    members: dict[str, object] = {"type": type_of(kind(known))} if known else {}
    if status >= 500:
        unexpected = status == 500 or isinstance(error, InDoubt)
        current_app.logger.error("%s: %s", title, error, exc_info=unexpected)
        if isinstance(error, Away) and error.key:
            return status, title, IN_DOUBT, members | {"idempotency_key": error.key}
        if isinstance(error, Away) and error.order:
            return status, title, PRESS_AGAIN, members | {"order": error.order}
        return status, title, said(error) if isinstance(error, CannotSell) else AWAY, members
    detail = said(error) if isinstance(error, ShopError) else ""
    return status, title, detail, members | _members(error)


def said(error: ShopError) -> str:
    """Return the error's sentences as one text, in the visitor's language; "" without any."""
    return str(say(reduce(together, error.sentences() or [""])))


def _members(error: Exception) -> dict[str, object]:
    """Return the error's data for programs, next to its text."""
    if isinstance(error, Invalid):
        return {"errors": error.errors}
    if isinstance(error, HoldOver):
        hold = error.hold
        return {"outcome": hold.stands, "order": hold.order.id, "pay_until": hold.until}
    if isinstance(error, NotBooked):
        return {"order": error.order.id}
    return {"opens_in_ms": error.wait} if isinstance(error, NotOpen) else {}


def register(app: Flask, template: str, failed_press: Text) -> None:
    """Give `app` the error answers (`template` for pages) and the headers.

    Any error becomes a problem or a page; a stack trace goes to the log only. `failed_press` is the
    detail of a POST that failed and is not known to be in doubt.
    """

    @app.errorhandler(Exception)
    def failed(error: Exception) -> Response:
        status, title, detail, members = describe(error)
        if detail is AWAY and request.method == "POST":
            detail = failed_press
        answer = problem(status, title, detail, **members)
        try:
            if wants_html():
                order = members.get("order")
                answer = page(template, status, title=title, detail=detail, order=order)
        except Exception:  # then in JSON: an error in the error's page would hide the first error
            current_app.logger.exception("no page for %s %s", status, title)
        if isinstance(error, TooOften):
            answer.headers["Retry-After"] = str(error.wait)
        if isinstance(error, HTTPException):
            for name, value in error.get_headers():
                if name == "Allow":
                    answer.headers[name] = value
        return answer

    @app.before_request
    def same_origin() -> None:
        """Refuse a POST from another site's page: it could buy, or start a round, for a visitor."""
        origin = request.headers.get("Origin")
        ours = origin is None or (host_in(origin) == request.host != "")
        if request.method == "POST" and not ours:
            abort(403, Text("Only our own pages may send this."))

    @app.after_request
    def protect(answer: Response) -> Response:
        answer.headers["X-Content-Type-Options"] = "nosniff"
        if request.endpoint != "static" or answer.status_code >= 400:
            # Stock and keys change at any moment, and a missing file may appear.
            answer.headers["Cache-Control"] = "no-store"
        if answer.mimetype == "text/html":
            answer.headers["Content-Security-Policy"] = CSP
            answer.headers["Referrer-Policy"] = "same-origin"
        return answer
