"""The record of a comparison: its request, its runs' results so far, and how it ended."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

from app.domain import ITEMS, ROUND_BOUNDS, Bound, Newer, Unreadable, records
from app.lab.about import About
from app.lab.stampede.record import Run
from app.modes import Way
from app.store.keys import COMPARISONS, RunKeys
from app.store.sql.history import RUN, ComparisonRow, HistoryEntry
from app.text import Text

BOUNDS = {"repeats": Bound(1, 5, Text("repeats"))}
FEWEST, MOST = 2, 8  # ways, the reference among them


class Planned(NamedTuple):
    """One run of a comparison that is still to come."""

    mode: str
    repeat: int  # from 1


@dataclass(frozen=True)
class Result:
    """The result of one run; None: not known.

    `goodput` is sales a second up to the last sale, which came after `lasted_s`; the percentiles
    are the sales'; `busy` and `errors` count answers. `verdict`, `sold`, `left`, `oversold` and
    `undersold` are the audit's. `generator_cpu` is the share of one core that the buyers' process
    used.
    """

    mode: str
    repeat: int
    run: str
    how: str
    why: str = ""
    verdict: str = ""
    goodput: float | None = None
    lasted_s: float | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    sold: int | None = None
    left: int | None = None
    oversold: int | None = None
    undersold: int | None = None
    busy: int = 0
    errors: int = 0
    generator_cpu: float | None = None

    @classmethod
    def of(cls, planned: Planned, run: Run) -> Result:
        figures, audit = run.figures, run.audit
        answers = figures.get("answers") or {}
        return cls(
            mode=planned.mode,
            repeat=planned.repeat,
            run=run.id,
            how=run.how,
            why=run.why,
            verdict=audit.verdict if audit else "",
            goodput=figures.get("overall"),
            busy=answers.get("BUSY", 0),
            errors=answers.get("ERROR", 0),
            lasted_s=figures.get("lasted_s"),
            generator_cpu=figures.get("generator_cpu"),
            p50_ms=figures.get("p50_ms"),
            p95_ms=figures.get("p95_ms"),
            p99_ms=figures.get("p99_ms"),
            sold=audit.sold if audit else None,
            left=audit.left if audit else None,
            oversold=audit.oversold if audit else None,
            undersold=audit.undersold if audit else None,
        )


@dataclass(frozen=True)
class Machine:
    """The measurement's machine and versions; `workers` are the shop's, each with `threads`."""

    version: str
    workers: int
    threads: int
    store: str
    appendfsync: str
    database: str
    cores: int
    durability: str
    combine: bool = False  # watch and fused served a worker's threads together; gone since

    @classmethod
    def of(cls, about: About) -> Machine:
        shop, store = about["shop"], about["store"]
        return cls(
            version=about["version"],
            workers=shop["workers"],
            threads=shop["threads"],
            store=store["server"],
            appendfsync=store["appendfsync"],
            database=about["database"],
            cores=os.cpu_count() or 1,
            durability=store["durability"],
        )


@dataclass(frozen=True)
class Comparison:
    """One comparison. Times are in ms since 1970, `seconds` is how long each run may sell.

    `modes` are full names, the `reference` first; `exhibits` are the modes among them that are
    broken on purpose. `machine` is where it was measured. `run` is the id of the run that is on.
    `how` is a stampede.record.How, "" while the comparison is on.
    """

    id: str
    item: str
    stock: int
    times: dict[str, int]
    buyers: int
    seconds: int
    repeats: int
    reference: str
    modes: list[str]
    exhibits: list[str]
    machine: Machine
    started: int
    ended: int | None = None
    how: str = ""
    why: str = ""
    run: str = ""
    results: list[Result] = field(default_factory=list)

    @property
    def keys(self) -> RunKeys:
        return RunKeys(COMPARISONS, self.id)

    @property
    def crowd(self) -> dict[str, int]:
        """The buyers of each run, in the form of `Runs.start`."""
        return {"buyers": self.buyers, "seconds": self.seconds}

    def plan(self) -> list[Planned]:
        """Return the planned runs, every second repeat backwards, so that the first way varies."""
        return [
            Planned(mode, repeat)
            for repeat in range(1, self.repeats + 1)
            for mode in (self.modes if repeat % 2 else reversed(self.modes))
        ]

    def encode(self) -> bytes:
        return records.encode(self)

    @classmethod
    def decode(cls, record: bytes | str) -> Comparison:
        """Decode a record. Raises Unreadable."""
        comparison = records.decode(
            cls,
            record,
            machine=lambda members: records.make(Machine, members),
            results=lambda runs: [records.make(Result, each) for each in runs],
        )
        times = comparison.times.keys() <= ROUND_BOUNDS.keys()
        if not (times and comparison.item in ITEMS and all(map(Way.exists, comparison.modes))):
            raise Newer
        return comparison

    def last_word(self) -> bytes:
        """The data of its last event."""
        return orjson.dumps({"how": self.how})

    def row(self) -> ComparisonRow:
        return ComparisonRow(id=self.id, started=self.started, record=self.encode().decode())


def read(past: HistoryEntry) -> Run | Comparison | Unreadable:
    """Return one entry of the history, or the error that says why it cannot be read."""
    try:
        return (Run if past.kind == RUN else Comparison).decode(past.record)
    except Unreadable as error:
        return error
