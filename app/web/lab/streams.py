"""Server-sent events, resumed by a browser where it was cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from flask import Request, Response

from app.service.stampede.events import Event

EVENT_ID = re.compile(r"\d{1,20}-\d{1,20}")


def last_seen(request: Request) -> str:
    """The id of the last event that this browser has got; "" for none."""
    last = request.headers.get("Last-Event-ID", "")
    return last if EVENT_ID.fullmatch(last) else ""


def stream(events: Iterator[Event | None]) -> Response:
    lines = chain([b"retry: 1000\n\n"], map(_wire, events))  # ms until it comes again
    answer = Response(lines, mimetype="text/event-stream")
    answer.headers["X-Accel-Buffering"] = "no"
    return answer


def nothing_more() -> Response:
    """Tells a browser that there is nothing to come back for."""
    return Response(status=204)


def _wire(event: Event | None) -> bytes:
    if event is None:
        return b":\n\n"
    id = f"id: {event.id}\n" if event.id else ""
    return f"{id}event: {event.kind}\ndata: {event.data}\n\n".encode()
