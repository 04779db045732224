"""Bars from a comparison's results: ratios within a repeat, their spread, sorted. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from figures import Scale, Spread, generator_bound, quotient, spread

from app.lab.comparison.record import Comparison, Result
from app.lab.stampede.record import How

RIGHT = "exact"
UNJUDGED = ("", "settling", "untouched")


@dataclass(frozen=True)
class Measured:
    """One run; `ratio` is its goodput ÷ the reference's of the same repeat, or None."""

    result: Result
    ratio: float | None

    @property
    def wrong(self) -> bool:
        """Whether the audit found that the books do not agree."""
        return self.result.verdict not in (RIGHT, *UNJUDGED)

    @property
    def bound(self) -> bool:
        """Whether the buyers' process was the limit, so that the shop was not measured."""
        return generator_bound(self.result.generator_cpu)


@dataclass(frozen=True)
class Bar:
    """One way to sell, with its runs."""

    mode: str
    exhibit: bool
    reference: bool
    runs: list[Measured]

    @property
    def ratio(self) -> Spread | None:
        """The spread over the repeats; None: no repeat is comparable."""
        return spread(each.ratio for each in self.runs)

    @property
    def typical(self) -> Measured | None:
        """The run that is nearest to the median; without a ratio the last one."""
        distances = [
            (abs(run.ratio - self.ratio.median), run)
            for run in self.runs
            if run.ratio is not None and self.ratio
        ]
        if distances:
            return min(distances, key=lambda each: each[0])[1]
        return self.runs[-1] if self.runs else None

    @property
    def wrong(self) -> list[Result]:
        """The runs whose audit was neither exact nor unsure."""
        return [each.result for each in self.runs if each.wrong]

    @property
    def judged(self) -> int:
        """How many of the runs have a verdict."""
        return sum(each.result.verdict not in UNJUDGED for each in self.runs)

    @property
    def oversold(self) -> list[int]:
        """The units beyond the stock, of each run that sold so many."""
        return [each.oversold for each in self.wrong if each.oversold]


def comparable(result: Result) -> bool:
    """Return whether a run ended by itself, sold something, and measured the shop."""
    return (
        result.how == How.FINISHED
        and bool(result.goodput)
        and not generator_bound(result.generator_cpu)
    )


def bars(comparison: Comparison) -> list[Bar]:
    """Return the bars, the fastest first, then those without a ratio in the request's order."""
    against = {
        each.repeat: each.goodput
        for each in comparison.results
        if each.mode == comparison.reference and comparable(each)
    }

    def ratio(result: Result) -> float | None:
        base = against.get(result.repeat)
        if not comparable(result) or not base or result.goodput is None:
            return None
        return quotient(result.goodput, base)

    made = [
        Bar(
            mode,
            mode in comparison.exhibits,
            mode == comparison.reference,
            [Measured(each, ratio(each)) for each in comparison.results if each.mode == mode],
        )
        for mode in comparison.modes
    ]
    return sorted(made, key=lambda bar: -bar.ratio.median if bar.ratio else 1.0)


def scale(made: list[Bar]) -> Scale:
    """Return one scale for all bars, from 0 to at least 1, the reference's ratio."""
    return Scale.of((bar.ratio for bar in made), least=1.0)


def alike(made: list[Bar]) -> list[tuple[Bar, Bar]]:
    """Return neighbours whose spreads overlap: this comparison does not distinguish them."""
    ratios = [(bar, bar.ratio) for bar in made if bar.ratio]
    return [
        (bar, other)
        for (bar, faster), (other, slower) in pairwise(ratios)
        if slower.overlaps(faster) and bar.mode != other.mode
    ]
