"""A comparison on the wire and in the templates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict, cast

from figures import Scale, Spread, chart
from markupsafe import Markup

from app.domain import ITEMS, iso
from app.lab.comparison.bars import Bar, Measured, bars, scale
from app.lab.comparison.record import Comparison, Machine, Planned, Result
from app.lab.comparison.remarks import Conclusion, finding, remarks
from app.lab.round_form import WIRE
from app.text import Text

DIGITS = 4  # after the point
HEIGHT = 40  # px of a bar and of the air around it


class Ratio(TypedDict):
    """The goodput's ratio to the reference's in the same repeat."""

    min: float
    median: float
    max: float


class Way(TypedDict):
    """A way to sell in one comparison. `ratio` null: no run is comparable.

    `runs` are its repeats, of which `judged` have a verdict; `wrong` of these were not exact, and
    `oversold_in` of them sold more than the stock, by `oversold_by_up_to` units.
    """

    mode: str
    exhibit: bool
    reference: bool
    ratio: Ratio | None
    runs: int
    judged: int
    wrong: int
    oversold_in: int
    oversold_by_up_to: int


class Times(TypedDict, total=False):
    """Times of its rounds, as far as they were given."""

    think_ms: int
    lease_ms: int
    wait_ms: int
    attempts: int
    limit: int
    delay_ms: int


class Asked(Times):
    """The form's fields."""

    item: str
    stock: int
    modes: list[str]
    reference: str
    buyers: int
    seconds: int
    repeats: int


@dataclass(frozen=True, kw_only=True)
class RunRow(Result):
    """One run, with its comparison to others; `ratio` None: not comparable."""

    exhibit: bool
    ratio: float | None
    generator_bound: bool


class Document(Asked):
    """A comparison for programs. Moments are ISO 8601 in UTC; null: not yet, or none."""

    id: str
    running: bool
    how: str | None  # a How
    why: str
    started_at: str | None
    ended_at: str | None
    machine: Machine
    planned: int  # runs
    run: str | None  # id of the run that is on
    ways: list[Way]
    runs: list[RunRow]
    remarks: list[str]


def document(comparison: Comparison) -> Document:
    made = bars(comparison)
    return {
        **asked(comparison),
        "id": comparison.id,
        "running": comparison.ended is None,
        "how": comparison.how or None,
        "why": comparison.why,
        "started_at": iso(comparison.started),
        "ended_at": iso(comparison.ended),
        "machine": comparison.machine,
        "planned": len(comparison.plan()),
        "run": comparison.run or None,
        "ways": [way(bar) for bar in made],
        "runs": [row(bar, each) for bar in made for each in bar.runs],
        "remarks": remarks(comparison, made),
    }


def asked(comparison: Comparison) -> Asked:
    """Return the form's fields for another comparison like it."""
    times = cast(Times, {WIRE[name]: value for name, value in comparison.times.items()})
    return {
        "item": comparison.item,
        "stock": comparison.stock,
        "modes": comparison.modes,
        "reference": comparison.reference,
        "buyers": comparison.buyers,
        "seconds": comparison.seconds,
        "repeats": comparison.repeats,
        **times,
    }


def way(bar: Bar) -> Way:
    return {
        "mode": bar.mode,
        "exhibit": bar.exhibit,
        "reference": bar.reference,
        "ratio": spread(bar.ratio),
        "runs": len(bar.runs),
        "judged": bar.judged,
        "wrong": len(bar.wrong),
        "oversold_in": len(bar.oversold),
        "oversold_by_up_to": max(bar.oversold, default=0),
    }


def spread(of: Spread | None) -> Ratio | None:
    return of and {"min": fit(of.low), "median": fit(of.median), "max": fit(of.high)}


def drawing(of: Bar, along: Scale) -> Markup:
    """Draw a bar: striped if an audit found something wrong, with a line at the reference."""
    pieces = []
    if of.ratio:
        pieces.append(
            chart.bar(along, of.ratio.median, "size wrong" if of.wrong else "size", 4, 32)
        )
        if of.wrong:
            pieces.append(chart.bar(along, of.ratio.median, "stripes", 4, 32, fill="url(#stripes)"))
        pieces.append(chart.whiskers(along, of.ratio, HEIGHT // 2))
    drawn = chart.svg(HEIGHT, *pieces, chart.upright(along, 1.0, "one", HEIGHT))
    return Markup(drawn)  # noqa: S704  our own figures


def fit(value: float) -> float:
    """Round a value to as many digits as a run supports."""
    return round(value, DIGITS)


def row(bar: Bar, each: Measured) -> RunRow:
    ratio = None if each.ratio is None else fit(each.ratio)
    return RunRow(**vars(each.result), exhibit=bar.exhibit, ratio=ratio, generator_bound=each.bound)


class ShownComparison(TypedDict):
    """A comparison in its own templates."""

    comparison: Comparison
    name: Text  # the item's
    on: bool
    started: str | None
    bars: list[Bar]
    ways: list[Way]
    drawings: list[Markup]
    remarks: list[str]
    finding: Conclusion | None  # once it is over
    done: int  # runs
    total: int
    next: Planned | None


def shown(comparison: Comparison) -> ShownComparison:
    made, plan = bars(comparison), comparison.plan()
    done = len(comparison.results)
    return {
        "comparison": comparison,
        "name": ITEMS[comparison.item].name,
        "on": comparison.ended is None,
        "started": iso(comparison.started),
        "bars": made,
        "ways": list(map(way, made)),
        "drawings": [drawing(bar, scale(made)) for bar in made],
        "remarks": remarks(comparison, made),
        "finding": finding(made) if comparison.ended else None,
        "done": done,
        "total": len(plan),
        "next": plan[done] if done < len(plan) else None,
    }


class Listed(TypedDict):
    """A comparison in a list of many."""

    id: str
    name: Text  # the item's
    how: str
    started: str | None
    ways: list[Way]
    runs: int


def listed(comparison: Comparison) -> Listed:
    made = bars(comparison)
    return {
        "id": comparison.id,
        "name": ITEMS[comparison.item].name,
        "how": comparison.how,
        "started": iso(comparison.started),
        "ways": [way(bar) for bar in made],
        "runs": len(comparison.results),
    }
