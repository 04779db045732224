"""The shop's modes as rows: the whole sale, each thread for itself or all of a process together.

Beside what the other rows write, a sale stands under its id and its key, and is read by its key
first. The wait is the whole purchase: nobody but the mode can tell when its turn has come.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import uuid_utils

from app.bench.contender import Attempt, Contender, Names
from app.domain import Clock, Order, Outcome, Round, Sale
from app.modes import MODES
from app.store.combining import Combining
from app.store.keys import Keys
from app.store.servers import Servers

Sell = Callable[[Order], Sale]
_lines: WeakKeyDictionary[Servers, dict[str, Sell]] = WeakKeyDictionary()  # by the lock's name
_mutex = threading.Lock()


class Whole:
    def __init__(self, sell: Sell, item: str) -> None:
        self.sell_order = sell
        self.item = item

    def sell(self) -> Attempt:
        id = str(uuid_utils.uuid7())
        order = Order(id, self.item, 1, 1, 60, "", id, int(time.time() * 1000))
        asked = time.monotonic()
        sale = self.sell_order(order)
        return Attempt(time.monotonic() - asked, sale.outcome is Outcome.SOLD)


def alone(name: str, servers: Servers, names: Names, _: int) -> Contender:
    return Whole(_mode(name, servers, names).sell, names.lock)


def together(name: str, servers: Servers, names: Names, _: int) -> Contender:
    with _mutex:
        lines = _lines.setdefault(servers, {})
        if names.lock not in lines:
            mode = _mode(name, servers, names)
            lines[names.lock] = Combining(mode.sell, mode.sell_all).sell
        return Whole(lines[names.lock], names.lock)


def _mode(name: str, servers: Servers, names: Names) -> Any:
    """As the shop makes it for a round with the usual times, but for the keys."""
    round = Round(names.lock, 1, 1, name)
    mode: Any = MODES[name](servers, Clock(), round)
    mode.keys = Keys.of(round)
    mode.keys.lock, mode.keys.stock, mode.keys.sales = names.lock, names.stock, names.sales
    return mode


def builds(name: str) -> dict[str, Callable[..., Contender]]:
    """Of a mode's row, and of that of several threads together, if it sells so."""
    rows: dict[str, Callable[..., Contender]] = {name: partial(alone, name)}
    if hasattr(MODES[name], "sell_all"):
        rows[f"{name}-combined"] = partial(together, name)
    return rows
