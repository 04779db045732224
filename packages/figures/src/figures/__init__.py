"""What repeated measurements say: spreads, ratios, remarks. No I/O."""

from figures import remarks
from figures.percentile import percentile, rank
from figures.ratio import BOUND, generator_bound, quotient
from figures.spread import Spread, spread

__all__ = [
    "BOUND",
    "Spread",
    "generator_bound",
    "percentile",
    "quotient",
    "rank",
    "remarks",
    "spread",
]
