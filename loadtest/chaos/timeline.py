"""The run as a drawing: sales and answers over time, and above them the faults."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from figures import Scale, chart
from markupsafe import Markup

from loadtest.chaos.fault_classes import FAULTS, classify
from loadtest.chaos.fault_coverage import ANSWERS, SALES, S, is_hit
from loadtest.chaos.history import InjectedFault
from loadtest.chaos.judge.reconstruction import RunHistory

COLUMNS = 150  # of a drawing: some px each
LEAST = 0.25  # s of a column: a shorter one is meaningless
HEIGHT, ROW, AXIS = 140, 16, 26  # px


@dataclass(frozen=True, slots=True)
class Timeline:
    """The drawing.

    `lanes`: faults' name -> their drawing; the report's tables have the same figures.
    """

    lanes: dict[str, Markup]
    goodput: Markup
    axis: Markup
    highest: float  # the highest column, in answers per second
    every: float  # s of a column


def timeline(history: RunHistory) -> Timeline:
    begin = min(of.begun.called for of in history.rounds.values())
    answered = [
        (op.until, op.answer)
        for purchase in history.purchases.values()
        for op in purchase.ops
        if op.answer in ANSWERS
    ]
    ends = [at for at, _ in answered] + [fault.until for fault in history.faults]
    seconds = max([LEAST, *((at - begin) / S for at in ends)])
    every = max(LEAST, seconds / COLUMNS)
    scale = Scale(0.0, seconds + every)
    answers = Counter(int((at - begin) / S / every) for at, _ in answered)
    sales = Counter(int((at - begin) / S / every) for at, answer in answered if answer in SALES)
    highest = max([1, *answers.values()])
    grid = [chart.upright(scale, tick, "grid", HEIGHT) for tick in scale.ticks()]
    columns = [
        _column(scale, place * every, every, count / highest, kind)
        for kind, counts in (("answers", answers), ("sales", sales))
        for place, count in sorted(counts.items())
    ]
    lanes = {}
    for fault in FAULTS:
        these = [event for event in history.faults if classify(event.kind, event.where) is fault]
        if these:
            spans = [_span(scale, event, begin) for event in these]
            lanes[fault.name] = _markup(chart.svg(ROW, *spans))
    axis = _markup(chart.svg(AXIS, chart.axis(scale, scale.ticks(), AXIS - 8)))
    return Timeline(
        lanes, _markup(chart.svg(HEIGHT, *grid, *columns)), axis, highest / every, every
    )


def _column(scale: Scale, at: float, every: float, share: float, kind: str) -> str:
    width = scale.at(every) * 0.9
    height = share * HEIGHT
    return (
        f'<rect class="{kind}" x="{scale.at(at):.2f}%" width="{width:.2f}%" '
        f'y="{HEIGHT - height:.1f}" height="{height:.1f}"/>'
    )


def _span(scale: Scale, fault: InjectedFault, begin: int) -> str:
    """Draw a fault; one that hit nothing is hollow."""
    since, until = ((at - begin) / S for at in (fault.since, fault.until))
    kind = "hit" if is_hit(fault) else "missed"
    width = max(scale.at(until) - scale.at(since), 0.4)
    return (
        f'<rect class="{kind}" x="{scale.at(since):.2f}%" width="{width:.2f}%" '
        f'y="3" height="{ROW - 6}"/>'
    )


def _markup(drawing: str) -> Markup:
    return Markup(drawing)  # noqa: S704  our own figures
