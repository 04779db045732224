"""A buyer's connection to the shop: its requests and answers are recorded in the history."""

from __future__ import annotations

import hashlib
import itertools
import time
from collections import deque
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any

import orjson

from loadtest.chaos.history import Action, Recorder, Reply, Request, Response

PATIENCE = 2.5  # s for an answer
REMEMBERED = 60  # purchases of an item that a buyer may come back to
# An answer's outcome, or an order's state, as a Reply.
WORDS = {
    **dict.fromkeys(("SOLD", "recorded", "confirmed"), Reply.SOLD),
    **dict.fromkeys(("HELD", "held"), Reply.HELD),
    **dict.fromkeys(("EXPIRED", "expired"), Reply.EXPIRED),
    **dict.fromkeys(("DECLINED", "CANCELLED", "declined", "cancelled"), Reply.GIVEN_BACK),
}


@dataclass(frozen=True, slots=True)
class Wish:
    """A purchase that a buyer wants, with its key; both stay the same at each retry."""

    buyer: str
    item: str
    key: str
    units: int
    cookie: str  # by which the shop knows the buyer; "": none


class Market:
    """State that all buyers share: the shop's port, the history, purchases to retry."""

    def __init__(self, port: int, recorder: Recorder) -> None:
        self.port, self.recorder = port, recorder
        self.ops = itertools.count(1)
        self.under_way: dict[int, Request] = {}  # port of a buyer's connection -> what it waits for
        self.replies: dict[Reply, int] = dict.fromkeys(Reply, 0)  # how often; to look at
        self.later: dict[str, deque[Wish]] = {}
        self.cookies: dict[str, str] = {}  # of buyers, by name

    def remember(self, wish: Wish) -> None:
        self.later.setdefault(wish.item, deque(maxlen=REMEMBERED)).append(wish)


class ShopClient:
    """One connection, and the presses that are sent over it."""

    def __init__(self, market: Market, name: str) -> None:
        self.market, self.name = market, name
        self.connection = HTTPConnection("127.0.0.1", market.port, timeout=PATIENCE)

    def buy(self, wish: Wish, round: int | None) -> Response:
        called = self._called(Action.BUY, wish, round, None)
        headers = {"Idempotency-Key": wish.key, "Content-Type": "application/json"}
        headers |= {"Cookie": wish.cookie} if wish.cookie else {}
        body = orjson.dumps({"quantity": wish.units})
        return self._send(called, "POST", f"/buy/{wish.item}", body, headers)

    def greet(self) -> str:
        """Return the cookie that the shop gives a new buyer; "" when it gives none."""
        try:
            self.connection.request("GET", "/", headers={"Accept": "text/html"})
            answer = self.connection.getresponse()
            answer.read()
            return (answer.getheader("Set-Cookie") or "").partition(";")[0]
        except (OSError, HTTPException):
            self.close()
            return ""

    def look(self, wish: Wish, order: str) -> Response:
        """Read the order's page."""
        called = self._called(Action.LOOK, wish, None, order)
        return self._send(called, "GET", f"/orders/{order}", None, {"Accept": "application/json"})

    def settle(self, deed: Action, wish: Wish, order: str) -> Response:
        """Send PAY, DECLINE or CANCEL for a hold."""
        called = self._called(deed, wish, None, order)
        headers = {"Content-Type": "application/json"}
        return self._send(called, "POST", f"/orders/{order}/{deed}", b"", headers)

    def _called(self, deed: Action, wish: Wish, round: int | None, order: str | None) -> Request:
        return Request(
            next(self.market.ops),
            time.monotonic_ns(),
            deed,
            wish.buyer,
            wish.item,
            wish.key,
            wish.units if deed is Action.BUY else 0,
            round,
            order,
            _standing_for(wish.cookie) if deed is Action.BUY else "",
        )

    def _send(
        self, called: Request, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> Response:
        self.market.recorder.note(called)
        try:
            port = self._connect()
            self.market.under_way[port] = called
            try:
                self.connection.request(method, path, body, headers)
                response = self._heard(called, self.connection.getresponse())
            finally:
                self.market.under_way.pop(port, None)
        except (OSError, HTTPException, ValueError, KeyError) as error:
            self.close()
            failure = type(error).__name__
            response = Response(called.op, time.monotonic_ns(), Reply.UNKNOWN, evidence=failure)
        self.market.recorder.note(response)
        self.market.replies[response.answer] += 1
        return response

    def _heard(self, called: Request, answer: HTTPResponse) -> Response:
        """Record an answer. Raises ValueError, KeyError for one that is malformed."""
        document: dict[str, Any] = orjson.loads(answer.read())
        word = _word(called.deed, answer.status, document)
        if answer.status == 410:  # the answer does not name the hold's round; its page does
            document["round"] = self._page(document["order"])["round"]
        return Response(
            called.op,
            time.monotonic_ns(),
            word,
            document.get("round"),
            document.get("order") or document.get("id")
            if word in (Reply.SOLD, Reply.HELD)
            else None,
            document.get("left"),
            f"{answer.status} {document.get('title', '')}".strip(),
            _cents(document["total"]) if "total" in document else None,
            document.get("pay_until"),
            document.get("pay_in_ms"),
        )

    def _page(self, order: str) -> dict[str, Any]:
        """Return an order's page. Raises OSError, HTTPException, ValueError."""
        self.connection.request("GET", f"/orders/{order}", headers={"Accept": "application/json"})
        document: dict[str, Any] = orjson.loads(self.connection.getresponse().read())
        return document

    def _connect(self) -> int:
        """Connect; return the port of our end of the connection. Raises OSError."""
        if self.connection.sock is None:
            self.connection.connect()
        return int(self.connection.sock.getsockname()[1])

    def close(self) -> None:
        self.connection.close()


def _standing_for(cookie: str) -> str:
    """Return a short digest of a cookie, which is long and a secret; "" for none."""
    return hashlib.sha256(cookie.encode()).hexdigest()[:12] if cookie else ""


def _cents(amount: str) -> int:
    """Return the cents of an amount as a page writes it: "€1,234.50"."""
    return int("".join(filter(str.isdigit, amount)))


def _word(deed: Action, status: int, document: dict[str, Any]) -> Reply:
    outcome = str(document.get("outcome") or document.get("state", ""))
    if status in (200, 201, 410) and (word := WORDS.get(outcome)):
        return word
    if status == 409 and outcome in ("SOLD_OUT", "LIMIT") and deed is Action.BUY:
        return Reply(outcome)
    if status == 503 and outcome == "BUSY":
        return Reply.BUSY
    return Reply.REFUSED if 400 <= status < 500 else Reply.UNKNOWN
