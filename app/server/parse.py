"""Read a request's fields. Anything except plain values is refused here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from flask import Request
from werkzeug.exceptions import BadRequest, LengthRequired, UnsupportedMediaType

from app.domain import Invalid
from app.service.refusals import called
from app.text import Text

LARGEST_BODY = 16 * 1024  # bytes; a purchase needs about a hundred
LARGEST = 2**31 - 1  # whole number, either way: what the database's columns hold
JSON = "application/json"
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


def body(request: Request) -> dict[str, Any]:
    """Return the body's members, of a form or a JSON object.

    Raises 413 over LARGEST_BODY, 411 without a length (Werkzeug would cut a long body short
    silently), 415 for another type, 400 when it is not of its type, Invalid when it is JSON but no
    object.
    """
    if "Transfer-Encoding" in request.headers:
        raise LengthRequired(Text("Say how long the body is (Content-Length)."))
    if request.mimetype in FORMS:
        fields = request.form.to_dict()
        if None in fields:  # a part may lack its name
            raise BadRequest
        return fields
    if request.mimetype != JSON:
        raise UnsupportedMediaType(Text("Send a form or application/json."))
    try:
        document = orjson.loads(request.get_data(cache=False))
    except orjson.JSONDecodeError as error:
        sentence = Text("The body is not JSON: %(error)s", error=str(error))
        raise BadRequest(sentence) from error
    if not isinstance(document, dict):
        raise Invalid({"body": Text("The body must be a JSON object.")})
    return document


def only(values: Mapping[str, object], known: Iterable[str]) -> None:
    """Raise Invalid if `values` has fields that are not `known`, with a sentence for each."""
    if unknown := sorted(values.keys() - {*known}):
        raise Invalid(
            {name: Text("There is no field %(field)s.", field=repr(name)) for name in unknown}
        )


def whole(values: Mapping[str, object], name: str, default: int | None = None) -> int:
    """Return field `name` as a whole number: of a form its digits, of JSON a number.

    Raises Invalid for any other value, beyond LARGEST, or if it is missing without a `default`. The
    services check its bounds.
    """
    value = values.get(name, default)
    if isinstance(value, str):
        digits = value.strip()
        if digits.isascii() and digits.removeprefix("-").isdigit() and len(digits) < 20:
            value = int(digits)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Invalid({name: Text("%(field)s must be a whole number.", field=called(name))})
    if abs(value) > LARGEST:
        raise Invalid({name: Text("%(field)s is out of range.", field=called(name))})
    return value


def text(values: Mapping[str, object], name: str, default: str = "") -> str:
    """Return field `name`, `default` if it is missing. Raises Invalid if it is no string."""
    value = values.get(name, default)
    if not isinstance(value, str):
        raise Invalid({name: Text("%(field)s must be text.", field=called(name))})
    return value


def texts(values: Mapping[str, object], name: str) -> list[str]:
    """Return field `name`, [] if it is missing. Raises Invalid if it is no list of strings."""
    value = values.get(name, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise Invalid({name: Text("%(field)s must be a list of strings.", field=called(name))})
    return value
