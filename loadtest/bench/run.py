"""The whole run: every shape, every repeat, every lock in turn."""

from __future__ import annotations

import math
import signal
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

import redis

from loadtest.bench import BenchFailed, server
from loadtest.bench.cell import Shape
from loadtest.bench.contender import Names
from loadtest.bench.crew import Crew, start_workers
from loadtest.bench.extra_servers import extra_servers
from loadtest.bench.results import LockFigures, LockResult, figures
from loadtest.bench.rows import LockRow

STOCK = 1_000_000_000  # units; no window sells so many


@dataclass(frozen=True)
class LocksPlan:
    rows: list[LockRow]
    base: LockRow  # one of the rows
    shapes: list[Shape]
    seconds: int  # of each cell's window
    repeats: int
    zookeeper_hosts: str = ""  # for the row that needs them

    @property
    def cells(self) -> list[tuple[Shape, int, LockRow]]:
        """Return the cells in order: A B C, B C A, ..., to vary which lock follows which."""
        return [
            (shape, repeat, row)
            for shape in self.shapes
            for repeat in range(self.repeats)
            for row in rotated(self.rows, repeat)
        ]


def rotated(rows: Sequence[LockRow], by: int) -> list[LockRow]:
    start = by % len(rows)
    return [*rows[start:], *rows[:start]]


@dataclass(frozen=True)
class Finished:
    results: list[LockResult]
    server: str


def run(plan: LocksPlan, began: Callable[[str], object]) -> Finished:
    """Measure; `began` is called with each cell as it begins.

    Raises BenchFailed, or StoreAway on a machine that the embedded server is not made for.
    """
    measured: dict[tuple[Shape, str], list[LockFigures]] = {}
    needs = {row.needs for row in plan.rows}
    processes = max(shape.processes for shape in plan.shapes)
    with stage(processes, needs, plan.zookeeper_hosts) as (store, crew):
        about = server.about(store)
        for number, (shape, repeat, row) in enumerate(plan.cells):
            began(f"{row.name} at {shape}, repeat {repeat + 1} of {plan.repeats}")
            names = Names.of(f"{row.name}-{number}")  # that no other cell has used
            cell = measure(store, crew, row, names, shape, plan.seconds)
            measured.setdefault((shape, row.name), []).append(cell)
    results = [
        LockResult(row, shape, measured[shape, row.name], measured[shape, plan.base.name])
        for shape in plan.shapes
        for row in plan.rows
    ]
    return Finished(results, about)


@contextmanager
def stage(
    processes: int, needs: Collection[str] = (), zookeeper_hosts: str = ""
) -> Iterator[tuple[redis.Redis, Crew]]:
    """Start servers and workers for one run, in a folder of their own; all are gone afterwards."""
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="lastapple-bench-") as name,
            server.running(Path(name)) as store,
            extra_servers(needs, Path(name), server.url(store), zookeeper_hosts) as settings,
            start_workers(Path(name), settings, processes) as crew,
        ):
            try:
                yield store, crew
            except redis.RedisError as error:
                raise BenchFailed(f"The embedded Valkey does not answer: {error}") from error
            finally:
                # A second Ctrl-C must not interrupt the exit.
                signal.signal(signal.SIGINT, signal.SIG_IGN)
    finally:
        signal.signal(signal.SIGINT, interrupt)


def measure(
    store: redis.Redis, crew: Crew, row: LockRow, names: Names, shape: Shape, seconds: int
) -> LockFigures:
    """Measure one cell, on an empty server."""
    store.flushall()
    store.set(names.stock, STOCK)
    counts = crew.work(row, names, shape, seconds)
    sold = sum(count.sold for count in counts)
    noted, left = store.xlen(names.sales), store.get(names.stock)
    if sold != noted or left is None:  # an error of the row or of ours: `oversold` would be wrong
        raise BenchFailed(
            f"{row.name} at {shape}: its contenders say that they sold {sold} units, the store "
            f"has {noted} sales and {left!r} units."
        )
    return figures(counts, STOCK - int(left), seconds, row.counted)


DIGITS = 4  # after the point; no run is exact enough for more


def document(finished: Finished, machine: str) -> dict[str, object]:
    return {
        "rows": [row(result) for result in finished.results],
        "machine": machine,
        "server": finished.server,
    }


def row(result: LockResult) -> dict[str, str | float | None]:
    """Return medians; `oversold` is of all repeats together. null: unknown, or infinite."""
    ratio = result.ratio("sales_per_s")
    p99 = result.ratio("p99_ms")
    fairness = result.spread("fairness")
    medians = {
        field.name: (figure := result.spread(field.name)) and finite(figure.median)
        for field in fields(LockFigures)
    }
    return {
        "name": result.row.name,
        "processes": result.shape.processes,
        "threads": result.shape.threads,
        **medians,
        "oversold": result.oversold,
        "ratio": ratio and finite(ratio.median),
        "ratio_min": ratio and finite(ratio.low),
        "ratio_max": ratio and finite(ratio.high),
        "p99_ratio": p99 and finite(p99.median),
        "fairness_max": fairness and finite(fairness.high),
    }


def finite(value: float) -> float | None:
    """Return the value; None for infinity, which JSON does not have."""
    return round(value, DIGITS) if math.isfinite(value) else None
