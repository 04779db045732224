"""Sentences without which a comparison's figures would be misread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from figures.remarks import BOUND, BUSY, ERRORS

from app.domain import Round
from app.lab.comparison.bars import Bar, alike
from app.lab.comparison.record import Comparison
from app.service.round_view import warnings
from app.text import Text, counted


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


SHORT = 1.0  # s; a shorter sale mostly measures how the buyers arrive


def named(bar: Bar) -> str:
    """Return a mode's name for people: an exhibit always with its warning."""
    if bar.exhibit:
        return Text("%(mode)s (broken on purpose)", mode=bar.mode)
    return bar.mode


def remarks(comparison: Comparison, made: list[Bar]) -> list[str]:
    """Return the limits of this very comparison, one sentence each."""
    sentences: list[str] = []
    for bar in made:
        sentences += _of_one(bar)
    for faster, other in alike(made):
        sentences.append(
            Text(
                "The spreads of %(one)s and %(other)s overlap: this comparison does not tell which "
                "of them is faster.",
                one=named(faster),
                other=named(other),
            )
        )
    if comparison.repeats == 1:
        sentences.append(
            Text("Each was measured once, so it is unknown how much of a difference is chance.")
        )
    threads = comparison.machine.workers * comparison.machine.threads
    if comparison.buyers > threads:
        sentences.append(
            Text(
                "There were %(buyers)s buyers for the shop's %(threads)s threads: the queue in "
                "front of it was measured, too.",
                buyers=comparison.buyers,
                threads=threads,
            )
        )
    for bar in made:
        sentences += _expected(comparison, bar)
    return sentences


def _of_one(bar: Bar) -> list[str]:
    sentences: list[str] = []
    if repeats := [run.result.repeat for run in bar.runs if run.bound]:
        sentences.append(Text(BOUND.template, mode=named(bar), repeats=repeats))
    lasted = [
        run.result.lasted_s for run in bar.runs if run.ratio is not None and run.result.lasted_s
    ]
    if lasted and min(lasted) < SHORT:
        sentences.append(
            Text(
                "%(mode)s: a sale was over after %(seconds)s s. A sale this short mostly "
                "measures how the buyers arrive; more stock makes it longer.",
                mode=named(bar),
                seconds=round(min(lasted), 2),
            )
        )
    if errors := sum(run.result.errors for run in bar.runs):
        sentences.append(counted(*ERRORS, errors, mode=named(bar)))
    if busy := sum(run.result.busy for run in bar.runs):
        sentences.append(counted(*BUSY, busy, mode=named(bar)))
    return sentences


def _expected(comparison: Comparison, bar: Bar) -> list[str]:
    """Return the remarks that the form makes about such a round, too."""
    times: dict[str, Any] = {**comparison.times}
    try:
        sentences = warnings(Round(comparison.item, 0, comparison.stock, bar.mode, **times))
    except KeyError:  # a mode that this version does not have
        return []
    # The first warning of an exhibit names it and says what it is.
    own, about = (sentences[:1], sentences[1:]) if bar.exhibit else ([], sentences)
    return own + [Text("%(mode)s: %(sentence)s", mode=bar.mode, sentence=each) for each in about]
