"""One run: a shop of its own, acts until the time is over, then the books."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.locks import LOCKS
from app.modes import MODES, Way
from app.text import instead
from loadtest.chaos import ChaosFailed
from loadtest.chaos.chaos_runner import ChaosRunner
from loadtest.chaos.database import books
from loadtest.chaos.faults import list_possible_faults
from loadtest.chaos.history import ActPlayed, Book, BookEntry, Recorder, Reply, RunStarted
from loadtest.chaos.operator import Operator
from loadtest.chaos.plan import ITEMS, plan_run
from loadtest.chaos.shop import whole_shop
from loadtest.chaos.shop_client import Market
from loadtest.chaos.state_reader import StateReader

LATE = 30_000_000_000  # ns; a freeze of 6 s, and each time-out on the way
LONGEST = 5  # times the minutes of play that a run may take; repairs and audits take the rest
# Its servers are not ours to break: no wheel contains a ZooKeeper.
ELSEWHERE = ("lock:zookeeper",)


@dataclass(frozen=True)
class RunOptions:
    """Options of the command line."""

    minutes: float
    seed: int
    modes: list[str]
    postgresql: bool
    durability: str
    holds: bool


def run(
    wanted: RunOptions, history: Path, say: Callable[[str], None], gone: Callable[[], bool]
) -> None:
    """Write all events of a run to `history`. Call it in the main thread.

    Raises ShopError, OSError.
    """
    with (
        tempfile.TemporaryDirectory(prefix="lastapple-chaos-") as name,
        Recorder(history) as recorder,
        whole_shop(
            Path(name), wanted.postgresql, wanted.durability, "lock:redlock" in wanted.modes
        ) as shop,
    ):
        database = shop.database.kind
        targets = list_possible_faults(wanted.postgresql)
        plan = [*plan_run(wanted.seed, wanted.minutes, wanted.modes, targets, wanted.holds)]
        recorder.note(
            RunStarted(
                *(wanted.seed, wanted.minutes, wanted.durability, database, LATE),
                *(tuple(wanted.modes), wanted.holds, len(plan)),
            )
        )
        finder = StateReader(lambda: shop.stores.primary.client(), shop.database.own_url)
        operator = Operator(shop.lab_port, shop.operator_environ, recorder, gone, finder)
        operator.take_over(ITEMS)
        market = Market(shop.front.port, recorder)
        conductor = ChaosRunner(shop, operator, market, recorder, gone)
        deadline = time.monotonic() + LONGEST * wanted.minutes * 60
        for number, act in enumerate(plan, 1):
            if time.monotonic() > deadline:
                break
            conductor.play(act)
            if gone():
                break
            recorder.note(ActPlayed(number, time.monotonic_ns()))
            say(
                f"act {number} of {len(plan)}: {len(operator.begun)} rounds, "
                f"{market.replies[Reply.SOLD]} sales, "
                f"{conductor.steps} faults, {conductor.hits} hits"
            )
        for entry in books(shop.database):
            if (entry.item, entry.round) in operator.begun:
                recorder.note(entry)
        for sale in shop.stores.sales(operator.begun):
            recorder.note(
                BookEntry(
                    *(Book.STORE, sale.id, sale.item, sale.round),
                    *(sale.quantity, sale.key, sale.buyer, sale.price),
                )
            )


def list_modes(postgresql: bool, exhibits: bool = False) -> list[str]:
    """List each `mode` and `lock:recipe` that can sell with such a database."""
    names = [name for name in MODES if name != "lock"] + [f"lock:{recipe}" for recipe in LOCKS]
    candidates = [Way.of(name) for name in names if name not in ELSEWHERE]
    allowed = [candidate for candidate in candidates if postgresql or not candidate.in_rows]
    return [candidate.name for candidate in allowed if exhibits or not candidate.exhibit]


def parse_modes(text: str, postgresql: bool) -> list[str]:
    """Split `a,b,lock:c`; an empty text means each sound mode. Raises ChaosFailed."""
    modes = [name.strip() for name in text.split(",") if name.strip()]
    known = list_modes(postgresql, exhibits=True)
    if unknown := [mode for mode in modes if mode not in known]:
        raise ChaosFailed(f"There is no {unknown[0]!r} here. {instead(unknown[0], known)}")
    return modes or list_modes(postgresql)
