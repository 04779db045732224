"""Hooks on commands, where a mode has no sleep to hook; buyers that are stopped in mid-sale."""

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
    """A seller with hooks: `hands` maps a command, or a key, to a deed done before it.

    For this, two methods of connections must be replaced: fixture `wired`.
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
    """Put one hold's units back, with `hands` as above."""
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
    token = _hands.set(None)  # commands that a hook itself sends are not hooked
    try:
        for command in commands:
            for word, deed in hands.items():
                if word in command:
                    deed()
    finally:
        _hands.reset(token)


class Buyer:
    """A purchase in a thread of its own, stopped in its think time until finish() is called."""

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
    """Let the server expire this lock now, however long its lease.

    A lease short enough to wait for would, on a slow machine, expire in other places, too.
    """
    services.store.pexpire(lock, 1)
    until(lambda: not services.store.exists(lock))
