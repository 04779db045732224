"""Request ids: each is in the request's answer, problem, log lines and order.

The id is ours, or a trusted proxy's (TRUSTED_PROXIES), so that the proxy's log has it, too. An id
that a client chooses is not used: two sales could have the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flask import Flask

from app.service.request import GOOD, current, new_id

HEADER = "X-Request-Id"


def register(app: Flask, trusted: bool) -> None:
    """Give each request its id; `trusted`: a proxy before us may set it.

    This wraps the application: a function that Flask calls before each request, after it and at its
    end costs six times as much. Log lines of a stream after its first part have no id.
    """
    answers = app.wsgi_app

    def with_id(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        sent = environ.get("HTTP_X_REQUEST_ID", "") if trusted else ""
        id = sent if sent and GOOD.fullmatch(sent) else new_id()

        def begin(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            headers.append((HEADER, id))
            return start_response(status, headers, *error)

        current.set(id)
        try:
            return answers(environ, begin)
        finally:
            current.set("")

    app.wsgi_app = with_id  # type: ignore[method-assign]  # as Flask documents it
    app.context_processor(lambda: {"request_id": current.get()})
