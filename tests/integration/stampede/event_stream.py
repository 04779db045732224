"""Reading server-sent events as a browser does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import requests


class Told(NamedTuple):
    id: str
    kind: str
    data: dict[str, Any]


def told(lines: Iterable[str]) -> Iterator[Told]:
    """Yield the events in the lines of a stream."""
    said: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if line == "" and "data" in said:
            yield Told(said.get("id", ""), said["event"], json.loads(said["data"]))
        if line == "":
            said = {}
        elif name:
            said[name] = value


def follow(lab: str, id: str, after: str = "", kind: str = "runs") -> Iterator[Told]:
    """Yield the events of a run, or of another `kind`, until the stream ends."""
    headers = {"Last-Event-ID": after} if after else {}
    url = f"{lab}/{kind}/{id}/events"
    with requests.get(url, headers=headers, stream=True, timeout=30) as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        yield from told(answer.iter_lines(chunk_size=1, decode_unicode=True))
