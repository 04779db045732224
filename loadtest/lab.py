"""A client of the lab's JSON API: read the running round, start a round, ask for the audit."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypedDict, cast
from urllib.parse import urlsplit

from loadtest import RunFailed

TIMEOUT = 30  # seconds; an audit of 100,000 orders takes a few

SETTLE_LIMIT = 30  # seconds; a backlog of some 10,000 sales is in the database well before

# Seconds between two looks at the audit, doubled each time: every look reads all orders of the
# round, so frequent looks would slow down the bookings that are waited for.
POLL = 0.1


Body = Mapping[str, str | int]  # what we send


class LabRefused(RunFailed):
    """The lab refused the input (422); the message is the lab's."""


class LabUnavailable(RunFailed):
    """The lab cannot answer now (503): its store or its database takes too long."""


@dataclass(frozen=True)
class About:
    """Facts about a running lab. `modes` and `recipes` map a name to whether it is an exhibit.

    A shop of an earlier version has no `most`.
    """

    version: str
    workers: int
    threads: int
    server: str
    appendfsync: str
    durability: str
    database: str
    modes: dict[str, bool]
    recipes: dict[str, bool]
    max_units: dict[str, int] = field(default_factory=dict)  # units of a round, by mode

    def exhibit(self, mode: str) -> bool:
        """Return whether `mode` or `mode:recipe` is broken on purpose. The mode must be known."""
        name, _, recipe = mode.partition(":")
        return self.modes[name] or self.recipes.get(recipe, False)


class Running(NamedTuple):
    number: int
    mode: str


class Audit(TypedDict, total=False):
    """The members that we read of the lab's `GET /rounds/<item>/<n>/audit`; counts are units."""

    settled: bool
    verdict: str
    stocked: int
    sold: int
    oversold: int
    left: int
    orders: int


class Lab:
    """The lab at `url`. Every call raises RunFailed when it gives no proper answer."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    def about(self) -> About:
        document = self.call("GET", "/about")
        try:
            return About(
                version=document["version"],
                workers=document["shop"]["workers"],
                threads=document["shop"]["threads"],
                server=document["store"]["server"],
                appendfsync=document["store"]["appendfsync"],
                durability=document["store"].get("durability", ""),
                database=document["database"],
                modes={mode["name"]: mode["exhibit"] for mode in document["modes"]},
                recipes={recipe["name"]: recipe["exhibit"] for recipe in document["recipes"]},
                max_units={
                    mode["name"]: mode["most"] for mode in document["modes"] if "most" in mode
                },
            )
        except (KeyError, TypeError) as odd:
            raise RunFailed(f"{self.url}/about lacks {odd}: is it Last Apple's lab?") from odd

    def running_round(self, item: str) -> Running | None:
        """Return the item's running round, None when there is none."""
        status, document = request(self.url, "GET", f"/rounds/{item}")
        if status != 200 or not document.get("running"):
            return None
        return Running(document["round"], document["mode"])

    def start_round(self, item: str, stock: int, mode: str) -> int:
        """Put `stock` units on sale, which ends the item's running round. Returns its number."""
        document = self.call("POST", "/rounds", {"item": item, "stock": stock, "mode": mode})
        return int(document["round"])

    def end_round(self, item: str) -> None:
        self.call("POST", f"/rounds/{item}/end", {})

    def audit(self, item: str, number: int) -> Audit:
        """Return the round's audit once it is settled, or the last one after SETTLE_LIMIT.

        A store that is slow under the load is asked again until then. `settled` in it says which.
        """
        limit, pause = time.monotonic() + SETTLE_LIMIT, POLL
        while True:
            late = time.monotonic() > limit
            try:
                audit = cast(Audit, self.call("GET", f"/rounds/{item}/{number}/audit"))
                if audit["settled"] or late:
                    return audit
            except LabUnavailable:
                if late:
                    raise
            time.sleep(pause)
            pause *= 2

    def call(self, method: str, path: str, body: Body | None = None) -> dict[str, Any]:
        status, document = request(self.url, method, path, body)
        detail = document.get("detail") or document.get("title") or "no reason given"
        if status == 422:
            raise LabRefused(f"The lab refuses: {detail}")
        if status >= 300:
            kind = LabUnavailable if status == 503 else RunFailed
            raise kind(f"The lab answered {method} {path} with {status}: {detail}")
        return document


def request(
    url: str, method: str, path: str, body: Body | None = None, timeout_s: float = TIMEOUT
) -> tuple[int, dict[str, Any]]:
    """Send one JSON request to `url` + `path`; return the status and the object in the body.

    Raises RunFailed without an answer in time, or when the answer is no JSON object. A proxy in the
    environment is never used: the measured server would not be the shop.
    """
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=timeout_s)
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    try:
        payload = None if body is None else json.dumps(body)
        connection.request(method, parts.path + path, payload, headers)
        answer = connection.getresponse()
        document = json.loads(answer.read())
    except (OSError, http.client.HTTPException) as away:
        raise RunFailed(f"{url} does not answer: {away or type(away).__name__}.") from away
    except ValueError as unreadable:
        raise RunFailed(f"{url}{path} does not answer in JSON: is it Last Apple?") from unreadable
    finally:
        connection.close()
    if not isinstance(document, dict):
        raise RunFailed(f"{url}{path} does not answer with a JSON object: is it Last Apple?")
    return answer.status, document
