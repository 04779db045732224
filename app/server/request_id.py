"""Every request has an id, which its answer, its problem, its lines of the log and its order bear.

It is ours, or a trusted proxy's (TRUSTED_PROXIES), so that the proxy's log knows it, too. One that
a stranger chooses is not taken: two sales could have the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flask import Flask

from app.service.request import GOOD, current, new_id

HEADER = "X-Request-Id"


def register(app: Flask, trusted: bool) -> None:
    """`trusted`: what stands before us says who asks.

    Around the application: a function that Flask calls before each request, after it and in its
    end costs six times as much. What a stream says after its begin belongs to none.
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

    app.wsgi_app = with_id  # type: ignore[method-assign]
    app.context_processor(lambda: {"request_id": current.get()})
