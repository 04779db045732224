"""The run for programs: one row a lock and shape, medians of its repeats."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TypedDict

from app.bench.results import Figures, Result
from app.bench.run import Finished

DIGITS = 4  # after the point; no run is exact enough for more


class Document(TypedDict):
    rows: list[dict[str, str | float | None]]
    machine: str
    server: str


def document(finished: Finished, machine: str) -> Document:
    return {
        "rows": [row(result) for result in finished.results],
        "machine": machine,
        "server": finished.server,
    }


def row(result: Result) -> dict[str, str | float | None]:
    """Medians; `oversold` is of all repeats together. null: cannot be said, or infinite."""
    ratio = result.ratio("sales_per_s")
    p99 = result.ratio("p99_ms")
    fairness = result.spread("fairness")
    medians = {
        field.name: (one := result.spread(field.name)) and finite(one.median)
        for field in fields(Figures)
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
    """JSON has no infinity."""
    return round(value, DIGITS) if math.isfinite(value) else None
