"""Server-sent events, resumed by a browser where it was cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from flask import Request, Response

from app.lab.stampede.events import Event

EVENT_ID = re.compile("[0-9]{1,19}-[0-9]{1,19}")
LARGEST = 2**63  # no stream of ours gets so long; the store has no id of more than 64 bits


def last_seen(request: Request) -> str:
    """Return the id of the last event that this browser has got; "" for none."""
    last = request.headers.get("Last-Event-ID", "")
    known = EVENT_ID.fullmatch(last) and max(map(int, last.split("-"))) < LARGEST
    return last if known else ""


def stream(events: Iterator[Event | None]) -> Response:
    lines = chain([b"retry: 1000\n\n"], map(_wire, events))  # ms until the browser reconnects
    answer = Response(lines, mimetype="text/event-stream")
    answer.headers["X-Accel-Buffering"] = "no"
    return answer


def nothing_more() -> Response:
    """Tell a browser not to reconnect."""
    return Response(status=204)


def _wire(event: Event | None) -> bytes:
    if event is None:
        return b":\n\n"
    id = f"id: {event.id}\n" if event.id else ""
    return f"{id}event: {event.kind}\ndata: {event.json}\n\n".encode()
