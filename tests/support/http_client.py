"""Requests to the shop in tests of HTTP, and the rules that every problem must keep."""

from __future__ import annotations

import re
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse


def buy(shop: FlaskClient, body: Any = None, item: str = "apple", **headers: str) -> TestResponse:
    return shop.post(f"/buy/{item}", json={} if body is None else body, headers=headers)


def form_key(browser: FlaskClient) -> str:
    """Return the key of the apples' form in a newly loaded page; the browser gets its cookie."""
    return key_on(browser.get("/", headers={"Accept": "text/html"}).text)


def key_on(page: str) -> str:
    """Return the key of the form that buys apples."""
    form = re.search(r'action="/buy/apple".*?name="key" value="([^"]+)"', page, re.DOTALL)
    assert form, page
    return form[1]


def problem(answer: TestResponse, status: int) -> dict[str, Any]:
    """Return the members of a problem document, after checking that it is one."""
    assert answer.status_code == status, answer.text
    assert answer.mimetype == "application/problem+json"
    document: dict[str, Any] = answer.get_json(force=True)
    assert document["status"] == status
    assert document["title"]
    assert document["detail"]
    assert "Traceback" not in answer.text
    return document
