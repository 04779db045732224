"""Phones of a class over HTTP: each waits by its own clock as the page's script does, then buys."""

from __future__ import annotations

import http.client
import json
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode, urlsplit

TIMEOUT = 30  # s for an answer
EVERY, FIRST, BETWEEN_FIRST, SILENCE = 3.0, 4, 0.4, 2.0  # as in static/shop/class.js; s


class Phone:
    """A phone of a class; in the end `opens`, `pressed` and `status` hold its result."""

    def __init__(self, url: str, name: str, address: str = "127.0.0.1") -> None:
        """`address` is its own: each that begins with 127 is this machine."""
        self.name = name
        self.connection = http.client.HTTPConnection(
            urlsplit(url).netloc, timeout=TIMEOUT, source_address=(address, 0)
        )
        self.cookie = ""
        self.round = 0
        self.key = ""
        self.moments: list[float] = []
        self.polls: list[float] = []  # s that each took
        self.missed: list[Exception] = []  # errors instead of an answer
        self.pressed = 0.0  # by time.time()
        self.status = 0
        self.answer: dict[str, Any] = {}

    @property
    def opens(self) -> float:
        """Return the opening, by time.time()."""
        return min(self.moments, default=math.inf)

    def call(self, method: str, path: str, body: str = "", **headers: str) -> tuple[int, bytes]:
        headers |= {"Cookie": self.cookie, "Accept": "application/json"}
        self.connection.request(method, path, body or None, headers)
        answer = self.connection.getresponse()
        if cookie := answer.getheader("Set-Cookie"):
            self.cookie = cookie.partition(";")[0]
        return answer.status, answer.read()

    def join(self) -> None:
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        status, said = self.call("POST", "/class/name", urlencode({"name": self.name}), **form)
        assert status in (201, 303), said

    def ask(self) -> None:
        began = time.time()
        status, said = self.call("GET", "/class/state")
        assert status == 200, said
        now = json.loads(said)
        received = time.time()
        self.polls.append(received - began)
        if now["round"] != self.round:
            self.round, self.key, self.moments = now["round"], now["key"], []
        self.moments = [*self.moments, received + now["opens_in_ms"] / 1000][-8:]

    def wait_for(self, round: int) -> None:
        """Wait until that round opens, by our own clock. A poll without an answer is skipped."""
        quick = 0
        while True:
            before = self.round
            with self.missing():
                self.ask()
            if self.round == round != before:
                quick = FIRST
            pause = BETWEEN_FIRST if quick > 0 else EVERY
            quick -= 1
            pause *= 0.75 + 0.5 * random.random()
            if self.round == round and time.time() + pause > self.opens - SILENCE:
                break
            time.sleep(pause)
        time.sleep(max(0.0, self.opens - time.time()))

    def press(self) -> None:
        """Buy; retry with the same key while no answer comes, as the page asks for."""
        self.pressed = time.time()
        headers = {"Content-Type": "application/json", "Idempotency-Key": self.key}
        while not self.answer:
            with self.missing():
                self.status, said = self.call("POST", "/buy/apple", '{"quantity": 1}', **headers)
                self.answer = json.loads(said)

    @contextmanager
    def missing(self) -> Iterator[None]:
        try:
            yield
        except (OSError, http.client.HTTPException) as error:
            self.missed.append(error)
            self.connection.close()  # it opens again at the next call
            time.sleep(0.1)

    def close(self) -> None:
        self.connection.close()


@contextmanager
def crowd(url: str, count: int) -> Iterator[list[Phone]]:
    """So many phones that have joined; their connections are closed in the end."""
    phones = [Phone(url, f"Phone {number}") for number in range(1, count + 1)]
    try:
        together(phones, Phone.join)
        yield phones
    finally:
        for phone in phones:
            phone.close()


def together(phones: list[Phone], deed: Callable[[Phone], None]) -> None:
    """Let each do it in a thread of its own; raise the first error."""
    with ThreadPoolExecutor(len(phones)) as pool:
        for done in [pool.submit(deed, phone) for phone in phones]:
            done.result()


def outcomes(phones: list[Phone]) -> Counter[str]:
    return Counter(str(phone.answer.get("outcome", phone.status)) for phone in phones)


def buy_together(phones: list[Phone], round: int) -> None:
    """Wait for the opening of that round, press, and keep the answer."""

    def deed(phone: Phone) -> None:
        phone.wait_for(round)
        phone.press()

    together(phones, deed)
