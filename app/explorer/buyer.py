"""A buyer: the real code of a mode in a greenlet, stopped at each thing that it sends."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import greenlet
import redis
from redis.connection import ConnectionPool

from app.domain import Clock
from app.explorer.gate import Done, Failed, GateConnection, Request, Rest, ask
from app.store.redis import NEVER_RESEND, SendsOnce


class BuyerClock(Clock):
    """Says what the search says; who sleeps goes on at once, and is known to have slept."""

    def __init__(self, buyer: Buyer, think: float) -> None:
        self.buyer = buyer
        self.think = think

    def now(self) -> float:
        return self.buyer.look_at_clock() / 1000

    wall = now

    def sleep(self, seconds: float) -> None:
        if seconds > self.think:  # else it is work, which takes as long as the search likes
            self.buyer.slept = True

    def random(self) -> float:
        return 0.5

    def token(self) -> str:
        self.buyer.tokens += 1
        return f"token-{self.buyer.name}{self.buyer.tokens}"

    def every(self, seconds: float, deed: Callable[[], bool]) -> Callable[[], None]:
        return self.buyer.start_deed(seconds, deed)


class Buyer:
    """One process of the search. `request` is what it waits for."""

    def __init__(self, name: str, work: Callable[[Buyer], Any], now: int) -> None:
        self.name = name
        self.now = now  # ms since 1970
        self.looked = False  # at the clock, since it went on last
        self.slept = False
        self.tokens = self.connections = 0
        self.gone: list[str] = []  # connections closed since it went on last
        self.deeds: list[SimpleNamespace] = []

        def run() -> Request:
            try:
                return Done(work(self))
            except Exception as error:
                return Failed(f"{type(error).__name__}: {error}")

        self.greenlet = greenlet.greenlet(run)
        self.greenlet.buyer = self
        self.request: Request = self.greenlet.switch()

    def go_on(self, answer: Any, now: int) -> Request:
        self.now, self.looked, self.gone = now, False, []
        self.request = self.greenlet.switch(answer)
        return self.request

    def look_at_clock(self) -> int:
        self.looked = True
        return self.now

    def has_slept(self) -> bool:
        slept, self.slept = self.slept, False
        return slept

    def new_connection(self) -> str:
        self.connections += 1
        return f"{self.name}{self.connections}"

    def closed(self, connection: str) -> None:
        self.gone.append(connection)

    def start_deed(self, seconds: float, deed: Callable[[], bool]) -> Callable[[], None]:
        raise NotImplementedError


def client() -> redis.Redis:
    pool = ConnectionPool(
        connection_class=GateConnection, protocol=2, retry=NEVER_RESEND, driver_info=None
    )
    return SendsOnce(connection_pool=pool)
