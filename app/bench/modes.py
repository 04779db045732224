"""The shop's modes as rows: the whole sale.

Beside what the other rows write, a sale stands under its id and its key, and is read by its key
first. The wait is the whole purchase: nobody but the mode can tell when its turn has come.
"""

from __future__ import annotations

import time

from app.bench.contender import Attempt, Names
from app.domain import Clock, Order, Outcome, Round
from app.domain.ids import draw_id
from app.modes import MODES
from app.store.keys import Keys
from app.store.servers import Servers


class Whole:
    def __init__(self, name: str, servers: Servers, names: Names, _: int) -> None:
        """As the shop makes the mode for a round with the usual times, except for the keys."""
        self.item = names.lock
        round = Round(names.lock, 1, 1, name)
        self.mode = MODES[name](servers, Clock(), round)
        keys = Keys.of(round)
        keys.lock, keys.stock, keys.sales = names.lock, names.stock, names.sales
        self.mode.keys = keys  # type: ignore[attr-defined]

    def sell(self) -> Attempt:
        id = draw_id()
        order = Order(id, self.item, 1, 1, 60, "", id, int(time.time() * 1000))
        asked = time.monotonic()
        sale = self.mode.sell(order)
        return Attempt(time.monotonic() - asked, sale.outcome is Outcome.SOLD)
