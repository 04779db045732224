"""Statistics of repeated measurements: spreads, ratios, remarks, bars with whiskers. No I/O."""

from figures import chart, remarks
from figures.scale import Scale
from figures.spread import (
    BOUND,
    Spread,
    generator_bound,
    percentile,
    quotient,
    rank,
    spread,
)

__all__ = [
    "BOUND",
    "Scale",
    "Spread",
    "chart",
    "generator_bound",
    "percentile",
    "quotient",
    "rank",
    "remarks",
    "spread",
]
