"""A comparison on the wire and in the templates."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, TypedDict

from figures import Scale, Spread, chart
from markupsafe import Markup

from app.domain import ITEMS, iso
from app.service.comparison.bars import Bar, Measured, bars, scale
from app.service.comparison.finding import finding
from app.service.comparison.record import Comparison
from app.service.comparison.remarks import remarks
from app.web.lab.asked import WIRE

DIGITS = 4  # after the point
HEIGHT = 40  # px of a bar and of the air around it


class Ratio(TypedDict):
    """Of goodput, to the reference's of the same repeat."""

    min: float
    median: float
    max: float


class Way(TypedDict):
    """A way to sell in one comparison. `ratio` null: none is fit to be told.

    `runs` are its repeats, of which `judged` have a verdict; `wrong` and `oversold_in` of these
    were not exact, and sold more than the stock, by `oversold_by_up_to` units.
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


def document(comparison: Comparison) -> dict[str, Any]:
    """For programs."""
    made = bars(comparison)
    return asked(comparison) | {
        "id": comparison.id,
        "on": comparison.ended is None,
        "how": comparison.how or None,
        "why": comparison.why,
        "started_at": iso(comparison.started),
        "ended_at": iso(comparison.ended),
        "ground": asdict(comparison.ground),
        "planned": len(comparison.plan()),
        "run": comparison.run or None,
        "ways": [way(bar) for bar in made],
        "runs": [row(bar, each) for bar in made for each in bar.runs],
        "remarks": remarks(comparison, made),
    }


def asked(comparison: Comparison) -> dict[str, Any]:
    """The form's fields, for another one like it."""
    times = {WIRE[name]: value for name, value in comparison.times.items()}
    names = ("item", "stock", "modes", "reference", "buyers", "seconds", "repeats")
    return {name: getattr(comparison, name) for name in names} | times


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
    """Striped where an audit found something wrong; the line is where the reference stands."""
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
    """No more digits than any run can vouch for."""
    return round(value, DIGITS)


def row(bar: Bar, each: Measured) -> dict[str, Any]:
    ratio = None if each.ratio is None else fit(each.ratio)
    said = {"exhibit": bar.exhibit, "ratio": ratio, "buyers_bound": each.bound}
    return asdict(each.result) | said


def shown(comparison: Comparison) -> dict[str, Any]:
    """In the templates of one comparison."""
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


def listed(comparison: Comparison) -> dict[str, Any]:
    """In a list of many."""
    made = bars(comparison)
    return {
        "id": comparison.id,
        "name": ITEMS[comparison.item].name,
        "on": comparison.ended is None,
        "how": comparison.how,
        "started": iso(comparison.started),
        "ways": [way(bar) for bar in made],
        "runs": len(comparison.results),
    }
