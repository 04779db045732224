"""A chart's scale: positions of values, and round numbers for ticks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil, floor, log10

from figures.spread import Spread

ROUND = (1, 2, 5, 10)  # times a power of ten
MAX_STEPS = 5  # steps of a linear scale: more have no room on a phone
AIR = 1.04  # times the longest bar: free space beyond it


@dataclass(frozen=True)
class Scale:
    """From `low` to `high`, in a value's own unit; `log`: each step is a factor, and low is > 0."""

    low: float
    high: float
    log: bool = False

    @classmethod
    def of(cls, spreads: Iterable[Spread | None], least: float = 0.0) -> Scale:
        """Return a scale from 0 to beyond all `spreads`, and beyond `least`."""
        return cls(0.0, AIR * (max([least, *(spread.high for spread in spreads if spread)]) or 1.0))

    @classmethod
    def log_of(cls, spreads: Iterable[Spread | None]) -> Scale:
        """Return a scale from the last round number below all `spreads`, which are > 0, to the
        next above.
        """
        known = [spread for spread in spreads if spread]
        lowest, highest = min(each.low for each in known), max(each.high for each in known)
        low = max(step for step in _steps(lowest) if step <= lowest)
        return cls(low, min(step for step in _steps(highest) if step > max(low, highest)), log=True)

    def at(self, value: float) -> float:
        """Return the position in % of the chart's width, from its left."""
        if self.log:
            return 100 * log10(value / self.low) / log10(self.high / self.low)
        return 100 * (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Return round numbers from low to high, as many as there is room for."""
        if self.log:
            powers = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
            ticks = [step * 10.0**power for power in powers for step in ROUND[:-1]]
            inside = [tick for tick in ticks if self.low <= tick <= self.high]
            if len(inside) <= 2 * MAX_STEPS:
                return inside
            return [tick for tick in inside if log10(tick).is_integer()]
        span = self.high - self.low
        unit = min(step for step in _steps(span / MAX_STEPS) if step >= span / MAX_STEPS)
        return [unit * number for number in range(ceil(self.low / unit), int(self.high / unit) + 1)]


def _steps(near: float) -> Iterator[float]:
    """Return round numbers around `near`, from its power of ten on."""
    power = 10.0 ** floor(log10(near))
    return (step * power for step in ROUND)
