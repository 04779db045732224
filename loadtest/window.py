"""Figures from answers: the measured window, and ratios to another one. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from figures import generator_bound, percentile, quotient

from loadtest.answers import ShopAnswer


class Sample(NamedTuple):
    """One answer, when it came (seconds of one clock) and how long it took (ms)."""

    at: float
    ms: float
    answer: ShopAnswer


@dataclass(frozen=True)
class LoadFigures:
    """Totals of the answers within one window.

    `answers` counts them by outcome. `goodput` is good answers per second; p50 and p99 are theirs,
    in ms. The three counts are totals over *all* answers ÷ good ones: the cost of a sale includes
    the attempts that got nothing. `cpu` is the generator's share of one core. None: there was no
    good answer to divide by.
    """

    answers: dict[str, int]
    goodput: float
    p50_ms: float | None
    p99_ms: float | None
    attempts_per_sale: float | None
    round_trips_per_sale: float | None
    commands_per_sale: float | None
    cpu: float

    @property
    def generator_bound(self) -> bool:
        return generator_bound(self.cpu)


def measure(
    samples: Iterable[Sample], start: float, end: float, cpu_seconds: float, good: str = "SOLD"
) -> LoadFigures:
    """Add up the samples that came at `start` or later and before `end`.

    `cpu_seconds` is what the generator's process used between the two. `good` is the outcome
    that counts: SOLD, or NOOP for the yardstick.
    """
    inside = [sample for sample in samples if start <= sample.at < end]
    times = sorted(sample.ms for sample in inside if sample.answer.outcome == good)

    def per_good(total: int) -> float | None:
        return quotient(total, len(times))

    return LoadFigures(
        answers=dict(Counter(sample.answer.outcome for sample in inside)),
        goodput=len(times) / (end - start),
        p50_ms=percentile(times, 50) if times else None,
        p99_ms=percentile(times, 99) if times else None,
        attempts_per_sale=per_good(sum(sample.answer.attempts for sample in inside)),
        round_trips_per_sale=per_good(sum(sample.answer.round_trips for sample in inside)),
        commands_per_sale=per_good(sum(sample.answer.commands for sample in inside)),
        cpu=cpu_seconds / (end - start),
    )


def ratio(one: LoadFigures, other: LoadFigures | None) -> float | None:
    """Return the goodput of one ÷ the other's, of the same repeat. None where it would mislead.

    That is when either was generator-bound: then the figure shows Locust's speed, and a ratio to a
    yardstick that is too low would flatter every mode.
    """
    if other is None or one.generator_bound or other.generator_bound:
        return None
    return quotient(one.goodput, other.goodput)
