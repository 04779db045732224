"""How the tests of HTTP ask the shop, and what every problem it answers must be."""

from __future__ import annotations

from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse


def buy(shop: FlaskClient, body: Any = None, item: str = "apple", **headers: str) -> TestResponse:
    return shop.post(f"/buy/{item}", json={} if body is None else body, headers=headers)


def problem(answer: TestResponse, status: int) -> dict[str, Any]:
    """The members of a problem document, after checking that it is one."""
    assert answer.status_code == status, answer.text
    assert answer.mimetype == "application/problem+json"
    document: dict[str, Any] = answer.get_json(force=True)
    assert document["status"] == status
    assert document["title"]
    assert document["detail"]
    assert "Traceback" not in answer.text
    return document
