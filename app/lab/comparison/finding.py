"""The conclusion of a comparison, for the one sentence that a class remembers. No I/O."""

from __future__ import annotations

from dataclasses import dataclass

from app.lab.comparison.bars import Bar


@dataclass(frozen=True)
class Conclusion:
    """`slow` sells `times` times slower than `fast`; None if the runs distinguish no two ways.

    `fast` is the fastest way that kept its promise, `slow` the slowest; if only one did, it is
    compared with the reference. `oversold` are the ways that sold up to `units` units more than
    there were, `wrong` are all whose audit found anything.
    """

    slow: Bar | None
    fast: Bar | None
    times: float | None
    oversold: list[Bar]
    units: int
    wrong: list[Bar]

    @property
    def free(self) -> bool:
        """Whether the way that kept its promise lost no speed against the one that did not."""
        return bool(self.slow and not kept(self.slow))


def kept(bar: Bar) -> bool:
    """Return whether the way is no exhibit, and no audit of it found anything.

    That is an observation, no proof.
    """
    return bool(bar.judged) and not bar.wrong and not bar.exhibit


def finding(made: list[Bar]) -> Conclusion | None:
    """Return the conclusion from the bars, the fastest first; None: no audit has judged any run."""
    if not any(bar.judged for bar in made):
        return None
    oversold = [bar for bar in made if bar.oversold]
    units = max((excess for bar in oversold for excess in bar.oversold), default=0)
    wrong = [bar for bar in made if bar.wrong]
    slow, fast, times = _apart(made)
    return Conclusion(slow, fast, times, oversold, units, wrong)


def _apart(made: list[Bar]) -> tuple[Bar, Bar, float] | tuple[None, None, None]:
    """Return the slow way, the fast way, and how many times faster that is."""
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
