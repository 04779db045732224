"""One cell: sell, then book the sales, and check that all are booked."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil
from servers.family import cpu_seconds
from servers.process import Server
from sqlalchemy import func, select

from app.config import Settings
from app.domain import ITEMS, Clock, Order, Outcome, Round
from app.domain.ids import draw_id
from app.modes.atomic import Atomic
from app.store import pair, rounds
from app.store.keys import Keys
from app.store.servers import Servers
from app.store.sql import db
from app.store.sql.orders import OrderRow
from loadtest.bench import BenchFailed
from loadtest.bench.fulfil.stage import PATIENCE, Stage, stage

ITEM = "apple"
SELLERS = 16  # threads of one process, a connection each
START_LIMIT = 60.0  # s until fulfil books the first sale
DRAIN_LIMIT = 1_800.0  # s for all
LOOK = 0.02  # s between two looks at the stream
MB = 1 << 20


@dataclass(frozen=True)
class FulfilFigures:
    """Figures of one cell. CPU is that of the drain alone, in µs of one core per order.

    Memory is in MB; `used` is the store's.
    """

    sales_per_s: float
    drain_per_s: float
    cpu_us: float
    store_cpu_us: float
    database_cpu_us: float | None
    rss_before: float
    rss_after: float
    used_before: float
    used_sold: float
    used_booked: float

    @property
    def ratio(self) -> float:
        return self.drain_per_s / self.sales_per_s


def measure(
    stage: Stage, kind: str, name: str, sales: int, leave: Callable[[], bool]
) -> FulfilFigures:
    """Measure on an empty store and an empty database, called `name`.

    Raises ShopError, also when `leave` says so.
    """
    url = stage.database(kind, name)
    servers = Servers(Settings(redis_url=stage.store_url, database_url=url, store_timeout=PATIENCE))
    db.migrate(servers.engine)
    stage.store.execute_command("FLUSHALL", "SYNC")  # SYNC: done before the sale begins
    used_before = _used_memory(stage)
    pair.name(stage.store, servers.sessions, ITEM, replace=True)
    wanted = Round(ITEM, 0, sales, "atomic")
    round = rounds.start(stage.store, wanted, 0, lambda *_: True, in_store=True)
    began = time.monotonic()
    _sell(servers, round, leave)
    sales_per_s = sales / (time.monotonic() - began)
    used_sold = _used_memory(stage)
    names = Keys.of(round)

    def waiting() -> int:
        if leave():
            raise BenchFailed("Stopped.")
        if not fulfil.runs():
            raise BenchFailed(f"fulfil has ended: {fulfil.said()}")
        return int(stage.store.xlen(names.sales))

    with Fulfil(stage, url, stage.folder / f"{name}.log") as fulfil:
        first = _until(lambda left: left < sales, waiting, START_LIMIT)
        if not first:
            raise BenchFailed(f"All {sales} sales were booked within one look: ask for more.")
        it = psutil.Process(fulfil.process.pid)
        begun, cpu = time.monotonic(), cpu_seconds(it)
        store_cpu, database_cpu = stage.store_cpu(), stage.database_cpu(kind)
        rss_before = it.memory_info().rss / MB
        _until(lambda left: left == 0, waiting, DRAIN_LIMIT)
        seconds, per_order = time.monotonic() - begun, 1e6 / first
        after = stage.database_cpu(kind)
        figures = FulfilFigures(
            sales_per_s=sales_per_s,
            drain_per_s=first / seconds,
            cpu_us=(cpu_seconds(it) - cpu) * per_order,
            store_cpu_us=(stage.store_cpu() - store_cpu) * per_order,
            database_cpu_us=(
                None
                if after is None or database_cpu is None
                else (after - database_cpu) * per_order
            ),
            rss_before=rss_before,
            rss_after=it.memory_info().rss / MB,
            used_before=used_before,
            used_sold=used_sold,
            used_booked=_used_memory(stage),
        )
    with servers.sessions() as session:
        booked = session.scalar(select(func.count()).select_from(OrderRow))
    servers.engine.dispose()
    if booked != sales:
        raise BenchFailed(f"{sales} were sold, and {booked} are booked.")
    return figures


def _sell(servers: Servers, round: Round, leave: Callable[[], bool]) -> None:
    """Sell one unit a sale until the stock is gone, with keys and buyers as the shop makes them."""
    mode = Atomic(servers, Clock(), round)

    def seller(_: int) -> None:
        outcome = Outcome.SOLD
        while outcome is Outcome.SOLD and not leave():
            id, key, buyer, request = (draw_id() for _ in range(4))
            now = int(time.time() * 1000)
            price = ITEMS[ITEM].price
            order = Order(id, ITEM, round.number, 1, price, buyer, key, now, request)
            outcome = mode.sell(order).outcome

    with ThreadPoolExecutor(SELLERS) as pool:
        list(pool.map(seller, range(SELLERS)))


class Fulfil(Server):
    failure = BenchFailed

    def __init__(self, stage: Stage, database_url: str, log: Path) -> None:
        env = {"REDIS_URL": stage.store_url, "DATABASE_URL": database_url}
        env |= {"VAR_DIR": str(stage.folder)}
        command = [sys.executable, "-m", "app.cli", "run", "fulfil"]
        super().__init__(command, log, env=os.environ | env)

    def serves(self) -> bool:
        """Return True at once: the booked orders show that it works."""
        return True


def _until(done: Callable[[int], bool], waiting: Callable[[], int], limit: float) -> int:
    """Wait until `done`; return how many sales wait then."""
    deadline = time.monotonic() + limit
    while not done(left := waiting()):
        if time.monotonic() > deadline:
            raise BenchFailed(f"{left} sales still wait to be booked after {limit:.0f} s.")
        time.sleep(LOOK)
    return left


def _used_memory(stage: Stage) -> float:
    return float(stage.store.info("memory")["used_memory"]) / MB


def run(
    kinds: list[str],
    sales: int,
    repeats: int,
    began: Callable[[str], object],
    leave: Callable[[], bool],
) -> dict[str, list[FulfilFigures]]:
    """Return the figures of each database's repeats.

    Raises ShopError, also when `leave` says so.
    """
    measured: dict[str, list[FulfilFigures]] = {kind: [] for kind in kinds}
    with stage(kinds) as servers:
        for repeat in range(repeats):
            for kind in kinds:
                began(f"{kind}, repeat {repeat + 1} of {repeats}")
                name = f"{kind}-{repeat}"
                measured[kind].append(measure(servers, kind, name, sales, leave))
    return measured
