"""What repeated measurements say: spreads, ratios, remarks, and bars with whiskers. No I/O."""

from figures import chart, remarks
from figures.percentile import percentile, rank
from figures.ratio import BOUND, generator_bound, quotient
from figures.scale import Scale
from figures.spread import Spread, spread

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
