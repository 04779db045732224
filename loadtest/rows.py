"""One row of the comparison: one mode's figures in one repeat, of both cells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from loadtest.answers import STATUS
from loadtest.lab import Audit
from loadtest.window import LoadFigures, ratio

# Locust cannot rank the two fastest modes, so wrk measures both.
FASTEST = 2

NOOP = "no-op"


def label(mode: str, exhibit: bool) -> str:
    """Return the mode's name for people: an exhibit always with its warning."""
    return f"{mode} (broken on purpose)" if exhibit else mode


@dataclass
class ComparisonRow:
    """A mode in a repeat. None: unknown, or not comparable.

    Sell-out cell: `stocked` … `orders` are the audit's; `sold_out`, `busy` and `errors` count the
    buyers' answers. Cost cell: the rest. Times in ms, goodput in sales a second. `settled` is False
    when an audit still was not 30 s after its cell: then its counts are not final. `generator_cpu`
    is a share of one core.
    """

    mode: str
    exhibit: bool
    repeat: int
    stocked: int | None
    sold: int | None
    oversold: int | None
    left: int | None
    orders: int | None
    sold_out: int
    busy: int
    errors: int
    settled: bool
    goodput: float
    p50_ms: float | None
    p99_ms: float | None
    attempts_per_sale: float | None
    round_trips_per_sale: float | None
    commands_per_sale: float | None
    cost_busy: int
    cost_errors: int
    ratio_atomic: float | None
    ratio_noop: float | None
    generator_cpu: float
    generator_bound: bool
    wrk_goodput: float | None = None
    wrk_ratio_noop: float | None = None


@dataclass
class Yardstick:
    """The no-op cell of a repeat: HTTP alone, requests a second, without any sale."""

    repeat: int
    goodput: float
    p50_ms: float | None
    p99_ms: float | None
    errors: int
    generator_cpu: float
    generator_bound: bool
    wrk_goodput: float | None = None


@dataclass(frozen=True)
class Cells:
    """The figures of one mode's two cells in one repeat."""

    audit: Audit
    sell_out: LoadFigures
    cost: LoadFigures
    settled: bool


def errors(figures: LoadFigures) -> int:
    """Return the number of answers that are no outcome of a healthy shop."""
    return sum(count for outcome, count in figures.answers.items() if outcome not in STATUS)


AUDITED = ("stocked", "sold", "oversold", "left", "orders")
SPEED = ("goodput", "p50_ms", "p99_ms", "generator_bound")
PER_SALE = ("attempts_per_sale", "round_trips_per_sale", "commands_per_sale")


def _copy(figures: LoadFigures, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(figures, name) for name in names} | {"generator_cpu": figures.cpu}


def build_yardstick(repeat: int, noop: LoadFigures) -> Yardstick:
    return Yardstick(repeat=repeat, errors=errors(noop), **_copy(noop, SPEED))


def build_row(
    mode: str,
    exhibit: bool,
    repeat: int,
    cells: Cells,
    atomic: LoadFigures | None,
    noop: LoadFigures,
) -> ComparisonRow:
    """Put a row together; `atomic` and `noop` are cost cells of the same repeat."""
    sell_out, cost = cells.sell_out, cells.cost
    units: dict[str, Any] = {name: cells.audit.get(name) for name in AUDITED}
    return ComparisonRow(
        mode=mode,
        exhibit=exhibit,
        repeat=repeat,
        **units,
        sold_out=sell_out.answers.get("SOLD_OUT", 0),
        busy=sell_out.answers.get("BUSY", 0),
        errors=errors(sell_out),
        settled=cells.settled,
        **_copy(cost, SPEED + PER_SALE),
        cost_busy=cost.answers.get("BUSY", 0),
        cost_errors=errors(cost),
        ratio_atomic=ratio(cost, atomic),
        ratio_noop=ratio(cost, noop),
    )


def select_for_wrk(rows: list[ComparisonRow]) -> list[ComparisonRow]:
    """Return one repeat's rows that wrk measures again: the fastest, and generator-bound ones."""
    fastest = sorted(rows, key=lambda row: row.goodput, reverse=True)[:FASTEST]
    return [row for row in rows if row in fastest or row.generator_bound]


def by_mode(rows: list[ComparisonRow]) -> dict[str, list[ComparisonRow]]:
    """Return the rows of each mode, modes in the order in which they first come."""
    groups: dict[str, list[ComparisonRow]] = {}
    for row in sorted(rows, key=lambda row: row.repeat):
        groups.setdefault(row.mode, []).append(row)
    return groups
