"""A judged run, for people (one HTML file, without a script) and for programs (JSON)."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from figures import Scale, chart
from markupsafe import Markup

from loadtest.chaos.fault_classes import FAULTS, classify
from loadtest.chaos.fault_coverage import ANSWERS, SALES, S, count_by_name, is_hit, measure_coverage
from loadtest.chaos.history import InjectedFault, RunStarted, encode
from loadtest.chaos.judge.anomalies import Anomaly, Detection
from loadtest.chaos.judge.judge import Judgement
from loadtest.chaos.judge.reconstruction import RunHistory
from loadtest.chaos.promises_page import TOLD
from loadtest.report import render

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


MOST = 12  # lines of the history that are shown as a finding's evidence
WORDS = {
    **TOLD,
    Anomaly.MISJUDGED: "the audit says something else than the books",
    Anomaly.ALARM: "the audit reports damage, or the store a loss, that no fault explains",
}


def document(judged: Judgement) -> dict[str, Any]:
    """Return the document of `--json`. Counts include expected detections; `broken` does not."""
    run, faults = judged.history.run, judged.history.faults
    counts = {str(wrong): judged.counts[wrong] for wrong in Anomaly}
    return {
        "seed": run.seed,
        "minutes": run.minutes,
        "database": run.database,
        "durability": run.durability,
        "modes": list(run.modes),
        "holds": run.holds,
        "faults": count_by_name(faults),
        "hits": count_by_name([fault for fault in faults if is_hit(fault)]),
        "planned": run.planned,
        "played": judged.history.played,
        "rounds": len(judged.rounds),
        "sales": judged.sales,
        **counts,
        "linearizable": judged.linearizable,
        "verdict": str(judged.verdict),
        "broken": [_found(detection) for detection in judged.broken],
        "expected": [_found(detection) for detection in judged.expected],
        "unsure": _unsure_words(judged),
    }


@dataclass(frozen=True, slots=True)
class ShownAnomaly:
    """A finding with the lines of the history that show it."""

    finding: Detection
    lines: list[str]
    more: int  # lines that are not shown


def page(judged: Judgement) -> str:
    """Return the report as the text of an HTML file. There was at least one round."""
    return render(
        "chaos/report.html",
        judged=judged,
        run=judged.history.run,
        counts=[(WORDS[wrong], wrong, *_shares(judged, wrong)) for wrong in Anomaly],
        broken=[_shown(judged, detection) for detection in judged.broken],
        expected=[_shown(judged, detection) for detection in judged.expected],
        unsure=_unsure_words(judged),
        coverage=measure_coverage(judged.history),
        timeline=timeline(judged.history),
        hits=sum(map(is_hit, judged.history.faults)),
        modes=sorted({judged_round.of.begun.mode for judged_round in judged.rounds}),
        command=_command(judged.history.run),
    )


def _command(run: RunStarted) -> str:
    """Return the command that plays the same plan again."""
    modes = f" --modes {','.join(run.modes)}" if run.modes else ""
    return (
        f"lastapple chaos --seed {run.seed} --minutes {run.minutes:g} --database {run.database} "
        f"--durability {run.durability}{modes}{' --holds' if run.holds else ''}"
    )


def _shares(judged: Judgement, wrong: Anomaly) -> tuple[int, int]:
    """Return how many anomalies contradict a promise, and how many do not."""
    return (
        sum(detection.count for detection in judged.broken if detection.wrong is wrong),
        sum(detection.count for detection in judged.expected if detection.wrong is wrong),
    )


def _unsure_words(judged: Judgement) -> list[str]:
    """Say why the run may prove nothing."""
    planned, played = judged.history.run.planned, judged.history.played
    short = [f"only {played} of {planned} planned acts were played"] if judged.cut_short else []
    return short + [
        f"{each.of.begun.item} {each.of.begun.round} ({each.of.begun.mode}): {each.unsure}"
        for each in judged.rounds
        if each.unsure
    ]


def _found(finding: Detection) -> dict[str, Any]:
    return asdict(finding)


def _shown(judged: Judgement, finding: Detection) -> ShownAnomaly:
    lines = []
    for purchase in judged.history.purchases.values():
        if purchase.item != finding.item:
            continue
        for op in purchase.ops:
            if op.number in finding.ops:
                lines += [(op.called.at, encode(op.called))]
                lines += [(op.response.at, encode(op.response))] if op.response else []
        if finding.key and purchase.key == finding.key:
            last = max((at for at, _ in lines), default=0)
            lines += [(last, encode(entry)) for entry in purchase.entries]
    texts = [line.decode().strip() for _, line in sorted(lines, key=lambda one: one[0])]
    return ShownAnomaly(finding, texts[:MOST], max(0, len(texts) - MOST))
