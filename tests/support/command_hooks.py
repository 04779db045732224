"""A hand on the wire, where a mode has no sleep to lay a hand on; buyers stopped in mid-sale."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

from app.bootstrap import Services
from app.domain import Order, Round, Sale
from app.modes import Mode
from app.store.clients.redis import Metered
from tests.support.purchases import HandClock, Once, mode, order
from tests.support.servers import until

Hands = Mapping[str, Callable[[], object]]

_hands: ContextVar[Hands | None] = ContextVar("hands", default=None)
_send_command, _pack_commands = Metered.send_command, Metered.pack_commands


class Handed:
    """A seller with hands on his wire: `hands` maps a command, or a key, to a deed done before it.

    For this their methods must be replaced by the two below: fixture `wired`.
    """

    def __init__(self, mode: Mode, hands: Hands) -> None:
        self.mode = mode
        self.hands = hands

    def sell(self, order: Order) -> Sale:
        token = _hands.set(self.hands)
        try:
            return self.mode.sell(order)
        finally:
            _hands.reset(token)


def put_back(services: Services, round: Round, held: Order, hands: Hands) -> bool:
    """Put one hold's units back, with `hands` on the wire as above."""
    token = _hands.set(hands)
    try:
        return services.holds.put_back(round, [held])
    finally:
        _hands.reset(token)


def send_command(connection: Metered, *args: Any, **kwargs: Any) -> None:
    _before([args])
    _send_command(connection, *args, **kwargs)


def pack_commands(connection: Metered, commands: Any) -> Any:
    _before(commands)
    return _pack_commands(connection, commands)


def _before(commands: Iterable[tuple[Any, ...]]) -> None:
    hands = _hands.get() or {}
    token = _hands.set(None)  # what a hand does is its own affair
    try:
        for command in commands:
            for word, deed in hands.items():
                if word in command:
                    deed()
    finally:
        _hands.reset(token)


class Buyer:
    """A purchase in a thread of its own, stopped in its think time until told to finish."""

    def __init__(self, services: Services, round: Round) -> None:
        self.thinks, self.go = threading.Event(), threading.Event()
        pool = ThreadPoolExecutor(1)
        seller = mode(services, round, HandClock(Once(self._think)))
        self.sale = pool.submit(seller.sell, order(round))
        pool.shutdown(wait=False)
        assert self.thinks.wait(10)

    def _think(self) -> None:
        self.thinks.set()
        assert self.go.wait(10)

    def finish(self) -> Sale:
        self.go.set()
        return self.sale.result(10)


def lease_runs_out(services: Services, lock: str) -> None:
    """The server lets this lock expire now, however long its lease.

    A lease that is short enough to be waited for would, on a slow machine, run out elsewhere too.
    """
    services.store.pexpire(lock, 1)
    until(lambda: not services.store.exists(lock))
