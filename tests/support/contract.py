"""Every answer in a test is compared with the contract: its status and its kind of body.

So a route, a status or a kind of answer that the contract lacks fails the tests that use it. The
contract cannot list some answers (an unknown method or address); these are listed here.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.exceptions import HTTPException
from werkzeug.test import TestResponse

Answers = dict[str, tuple[frozenset[str], frozenset[str]]]  # status -> media types, needed headers


@cache
def promised(app: Flask) -> dict[str, Answers]:
    """Return endpoint -> its possible answers."""
    document = app.extensions["contract"]()
    headers = document["components"]["headers"]
    found: dict[str, Answers] = {}
    for path in document["paths"].values():
        for operation in path.values():
            found[operation["operationId"]] = {
                status: (
                    frozenset(answer.get("content", ())),
                    frozenset(name for name in answer["headers"] if headers[name].get("required")),
                )
                for status, answer in operation["responses"].items()
            }
    return found


def endpoint(app: Flask, answer: TestResponse) -> str | None:
    """Return the requested endpoint; None: the address is unknown, or does not take that method."""
    asked = answer.request
    try:
        found, _ = app.url_map.bind_to_environ(asked.environ).match(method=asked.method)
    except HTTPException:
        return None
    return found if asked.method != "OPTIONS" else None


def undocumented(app: Flask, answer: TestResponse) -> str:
    """Return how this answer differs from the contract; "" if it does not."""
    if "contract" not in app.extensions or not (asked := endpoint(app, answer)):
        return ""
    answers = promised(app)[asked]
    status = str(answer.status_code)
    if status not in answers:
        return f"{asked} may not answer {status}; only {sorted(answers)}"
    kinds, headers = answers[status]
    if kinds and answer.mimetype not in kinds:
        return f"{asked} may not answer {status} with {answer.mimetype}; only {sorted(kinds)}"
    if lacking := headers - {name for name, _ in answer.headers}:
        return f"{asked} must answer {status} with {sorted(lacking)}"
    return ""


def linked(
    client: FlaskClient, document: dict[str, Any], link: dict[str, Any], said: dict[str, Any]
) -> TestResponse:
    """Return the answer of the operation to which an answer's link leads."""
    takes = {
        name: said[where.removeprefix("$response.body#/")]
        for name, where in link["parameters"].items()
    }
    [(path, method)] = [
        (path, method)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if operation["operationId"] == link["operationId"]
    ]
    return client.open(path.format(**takes), method=method.upper(), json={})


def hold_all_answers() -> None:
    """Check all answers from now on, in this process."""
    asked = FlaskClient.open

    def opened(client: FlaskClient, *args: Any, **options: Any) -> TestResponse:
        answer = asked(client, *args, **options)
        if answer.status_code != 500:  # an error that the test must notice
            wrong = undocumented(client.application, answer)
            assert not wrong, wrong
        return answer

    FlaskClient.open = opened  # type: ignore[method-assign, assignment]
