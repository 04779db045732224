"""One run: a shop of its own, acts until the time is over, then the books."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from loadtest.chaos.buyers import Market
from loadtest.chaos.conductor import Conductor
from loadtest.chaos.database import books
from loadtest.chaos.faults import possible
from loadtest.chaos.found import Finder
from loadtest.chaos.history import Entry, Run
from loadtest.chaos.operator import Operator
from loadtest.chaos.plan import ITEMS, act
from loadtest.chaos.recorder import Recorder
from loadtest.chaos.shop import whole_shop
from loadtest.chaos.words import Answer, Book

LATE = 30_000_000_000  # ns; a freeze of 6 s, and each time-out on the way


@dataclass(frozen=True)
class Wanted:
    """What was asked for on the command line."""

    minutes: float
    seed: int
    modes: list[str]
    postgresql: bool
    durability: str
    holds: bool


def run(
    wanted: Wanted, history: Path, say: Callable[[str], None], gone: Callable[[], bool]
) -> None:
    """Write what happens to `history`. Call it in the main thread. Raises ShopError, OSError."""
    with (
        tempfile.TemporaryDirectory(prefix="lastapple-chaos-") as name,
        Recorder(history) as recorder,
        whole_shop(
            Path(name),
            wanted.postgresql,
            wanted.durability,
            "lock:redlock" in wanted.modes,
        ) as shop,
    ):
        database = shop.database.kind
        recorder.note(
            Run(
                *(wanted.seed, wanted.minutes, wanted.durability, database, LATE),
                *(tuple(wanted.modes), wanted.holds),
            )
        )
        finder = Finder(lambda: shop.stores.primary.client(), shop.database.own_url)
        operator = Operator(shop.lab_port, shop.operator_environ, recorder, gone, finder)
        operator.take_over(ITEMS)
        market = Market(shop.front.port, recorder)
        conductor = Conductor(shop, operator, market, recorder, gone)
        targets = possible(wanted.postgresql)
        deadline = time.monotonic() + wanted.minutes * 60
        number = 0
        while time.monotonic() < deadline and not gone():
            conductor.play(act(wanted.seed, number, wanted.modes, targets, wanted.holds))
            number += 1
            say(
                f"act {number}: {len(operator.begun)} rounds, {market.told[Answer.SOLD]} sales, "
                f"{conductor.steps} faults, {conductor.hits} hits"
            )
        for entry in books(shop.database):
            if (entry.item, entry.round) in operator.begun:
                recorder.note(entry)
        for sale in shop.stores.sales(operator.begun):
            recorder.note(
                Entry(
                    *(Book.STORE, sale.id, sale.item, sale.round),
                    *(sale.quantity, sale.key, sale.buyer),
                )
            )
