"""What a comparison found, for the one sentence that a room takes home. No I/O."""

from __future__ import annotations

from dataclasses import dataclass

from app.lab.comparison.bars import Bar


@dataclass(frozen=True)
class Conclusion:
    """`slow` sells `times` times slower than `fast`; None where these runs do not tell two apart.

    `fast` is the fastest way that kept its promise, `slow` the slowest; where only one did, it is
    set beside the reference. `oversold` are the ways that sold up to `units` units more than there
    were, `wrong` all whose audit found anything.
    """

    slow: Bar | None
    fast: Bar | None
    times: float | None
    oversold: list[Bar]
    units: int
    wrong: list[Bar]

    @property
    def free(self) -> bool:
        """Did the way that kept its promise lose nothing to the one that did not?"""
        return bool(self.slow and not kept(self.slow))


def kept(bar: Bar) -> bool:
    """Is it no exhibit, and did no audit of it find anything? Seen is not proven: it is a word."""
    return bool(bar.judged) and not bar.wrong and not bar.exhibit


def finding(made: list[Bar]) -> Conclusion | None:
    """Of the bars, the fastest first. None: no audit has judged any run."""
    if not any(bar.judged for bar in made):
        return None
    oversold = [bar for bar in made if bar.oversold]
    units = max((excess for bar in oversold for excess in bar.oversold), default=0)
    wrong = [bar for bar in made if bar.wrong]
    slow, fast, times = _apart(made)
    return Conclusion(slow, fast, times, oversold, units, wrong)


def _apart(made: list[Bar]) -> tuple[Bar, Bar, float] | tuple[None, None, None]:
    """The slow one, the fast one, and how many times faster that is."""
    ratios = [(bar, bar.ratio) for bar in made if bar.ratio]
    beside = [(bar, ratio) for bar, ratio in ratios if kept(bar)]
    if len(beside) == 1:
        beside = [(bar, ratio) for bar, ratio in ratios if kept(bar) or bar.reference]
    if len(beside) < 2:
        return None, None, None
    (fast, more), (slow, less) = beside[0], beside[-1]
    if more.overlaps(less):
        return None, None, None
    return slow, fast, more.median / less.median
