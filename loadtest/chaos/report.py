"""The report of a judged run: one HTML file without a script, JSON, and lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from figures import Scale, chart
from markupsafe import Markup

from loadtest.chaos.explanation import Cause, list_causes
from loadtest.chaos.fault_classes import FAULTS, classify
from loadtest.chaos.fault_coverage import ANSWERS, SALES, count_by_name, is_hit, measure_coverage
from loadtest.chaos.history import InjectedFault
from loadtest.chaos.judge.anomalies import Anomaly
from loadtest.chaos.judge.judge import Judgement, Verdict
from loadtest.chaos.judge.reconstruction import RunHistory
from loadtest.chaos.promises_page import TOLD
from loadtest.report import render

COLUMNS = 150  # of a drawing: some px each
LEAST = 0.25  # s of a column: a shorter one is meaningless
HEIGHT, ROW, AXIS = 140, 16, 26  # px


@dataclass(frozen=True, slots=True)
class RunDrawing:
    """Goodput over time, with lanes above it: a name -> its drawing.

    The lanes are for broken promises and for each class of faults.
    """

    lanes: dict[str, Markup]
    goodput: Markup
    axis: Markup
    highest: float  # the highest column, in answers per second
    every: float  # s of a column


def draw_run(history: RunHistory, broken: Sequence[Cause]) -> RunDrawing:
    answered = [
        (history.seconds(op.until), op.answer)
        for purchase in history.purchases.values()
        for op in purchase.ops
        if op.answer in ANSWERS
    ]
    ends = [history.seconds(fault.until) for fault in history.faults]
    seconds = max([LEAST, *ends, *(at for at, _ in answered)])
    every = max(LEAST, seconds / COLUMNS)
    scale = Scale(0.0, seconds + every)
    answers = Counter(int(at / every) for at, _ in answered)
    sales = Counter(int(at / every) for at, answer in answered if answer in SALES)
    highest = max([1, *answers.values()])
    grid = [chart.upright(scale, tick, "grid", HEIGHT) for tick in scale.ticks()]
    columns = [
        _box(scale, kind, place * every, (place + 0.9) * every, HEIGHT - height, height)
        for kind, counts in (("answers", answers), ("sales", sales))
        for place, count in sorted(counts.items())
        for height in [count / highest * HEIGHT]
    ]
    lanes = {}
    if broken:
        found = sorted({each.at for cause in broken for each in cause.findings})
        marks = [_box(scale, "broken", at, at, 3, ROW - 6) for at in found]
        lanes["broken promises"] = _markup(chart.svg(ROW, *marks))
    for fault in FAULTS:
        these = [event for event in history.faults if classify(event.kind, event.where) is fault]
        if these:
            spans = [_span(scale, event, history) for event in these]
            lanes[fault.name] = _markup(chart.svg(ROW, *spans))
    axis = _markup(chart.svg(AXIS, chart.axis(scale, scale.ticks(), AXIS - 8)))
    return RunDrawing(
        lanes, _markup(chart.svg(HEIGHT, *grid, *columns)), axis, highest / every, every
    )


def _span(scale: Scale, fault: InjectedFault, history: RunHistory) -> str:
    """Draw a fault; one that hit nothing is hollow."""
    kind = "hit" if is_hit(fault) else "missed"
    since, until = history.seconds(fault.since), history.seconds(fault.until)
    return _box(scale, kind, since, until, 3, ROW - 6)


def _box(scale: Scale, kind: str, since: float, until: float, top: float, height: float) -> str:
    width = max(scale.at(until) - scale.at(since), 0.4)
    return (
        f'<rect class="{kind}" x="{scale.at(since):.2f}%" width="{width:.2f}%" '
        f'y="{top:.1f}" height="{height:.1f}"/>'
    )


def _markup(drawing: str) -> Markup:
    return Markup(drawing)  # noqa: S704  our own figures


EXAMPLES = 5  # timelines in the terminal, and reasons why a run proves nothing


@dataclass(frozen=True, slots=True)
class Report:
    """A judged run with its causes: as a document, as a page, and as lines for a terminal."""

    judged: Judgement
    broken: list[Cause]
    expected: list[Cause]

    @classmethod
    def of(cls, judged: Judgement) -> Self:
        causes = (list_causes(judged, each) for each in (judged.broken, judged.expected))
        return cls(judged, *causes)

    @property
    def sentence(self) -> str:
        """Say the verdict in one sentence."""
        judged, verdict = self.judged, self.judged.verdict.capitalize()
        if judged.broken:
            totals = Counter[str]()
            for cause in self.broken:
                totals[cause.wrong] += cause.count
            found = ", ".join(f"{wrong}: {count:,}" for wrong, count in totals.items())
            return f"{verdict}: {found}; the page promises 0."
        if judged.verdict is Verdict.INCONCLUSIVE:
            why = (self.unsure or ["no round was played"])[0]
            return f"{verdict}: {why}; the run proves nothing."
        excused = sum(len(cause.findings) for cause in self.expected)
        many = f"; findings that the page allows: {excused:,}" if excused else ""
        return f"{verdict}: every promise was kept{many}."

    @property
    def extent(self) -> str:
        """Say how much was played and broken."""
        judged, history = self.judged, self.judged.history
        return (
            f"acts: {history.played:,} of {history.run.planned:,} planned, "
            f"rounds: {len(judged.rounds):,}, sales: {judged.sales:,}, "
            f"faults: {len(history.faults):,}, of which {sum(map(is_hit, history.faults)):,} hit"
        )

    @property
    def unsure(self) -> list[str]:
        """Say why the run may prove nothing."""
        planned, played = self.judged.history.run.planned, self.judged.history.played
        short = [f"only {played} of {planned} planned acts were played"]
        return (short if self.judged.cut_short else []) + [
            f"{each.of.begun.item} {each.of.begun.round} ({each.of.begun.mode}): {each.unsure}"
            for each in self.judged.rounds
            if each.unsure
        ]

    @property
    def command(self) -> str:
        """Return the command that plays the same plan again."""
        run = self.judged.history.run
        modes = f" --modes {','.join(run.modes)}" if run.modes else ""
        return (
            f"lastapple chaos --seed {run.seed} --minutes {run.minutes:g} --database "
            f"{run.database} --durability {run.durability}{modes}{' --holds' if run.holds else ''}"
        )

    def document(self) -> dict[str, Any]:
        """Return the document of `--json`. Counts include expected findings."""
        judged = self.judged
        run, faults = judged.history.run, judged.history.faults
        return {
            **{name: getattr(run, name) for name in ("seed", "minutes", "database", "durability")},
            **{name: getattr(run, name) for name in ("modes", "holds", "planned")},
            "faults": count_by_name(faults),
            "hits": count_by_name([fault for fault in faults if is_hit(fault)]),
            "played": judged.history.played,
            "rounds": len(judged.rounds),
            "sales": judged.sales,
            **{str(wrong): judged.counts[wrong] for wrong in Anomaly},
            "linearizable": judged.linearizable,
            "verdict": str(judged.verdict),
            "sentence": self.sentence,
            "command": self.command,
            "broken": [_cause(cause) for cause in self.broken],
            "expected": [_cause(cause) for cause in self.expected],
            "unsure": self.unsure,
        }

    def page(self) -> str:
        """Return the report as the text of an HTML file."""
        judged = self.judged
        return render(
            "chaos/report.html",
            report=self,
            judged=judged,
            run=judged.history.run,
            what=TOLD,
            absent=[TOLD[wrong] for wrong in Anomaly if not judged.counts[wrong]],
            coverage=measure_coverage(judged.history),
            drawing=draw_run(judged.history, self.broken),
        )

    def lines(self) -> Iterator[str]:
        """Yield the lines of the terminal; the last one says the verdict."""
        for number, cause in enumerate(self.broken):
            first = cause.findings[0]
            yield f"! {cause.headline} ({cause.mode}, {cause.fault.name})"
            if number >= EXAMPLES:
                continue
            yield f'  The page: "{cause.promise}." {cause.reason}'
            yield f"  Findings alike: {len(cause.findings):,}. The first one:"
            yield f"  {first.place}. {first.finding.sentence}"
            for at, actor, text in cause.moments:
                yield f"  {'end' if at is None else f'{at:.3f}':>9}  {actor:<9} {text}"
        yield from (f"? {why}" for why in self.unsure[:EXAMPLES])
        yield f"  {self.extent}"
        yield f"  same plan again: {self.command}"
        yield self.sentence


def _cause(cause: Cause) -> dict[str, Any]:
    return {
        **{name: getattr(cause, name) for name in ("wrong", "count", "headline", "mode")},
        **{"fault": cause.fault.name, "promise": cause.promise, "cell": cause.cell.name},
        "reason": cause.reason,
        "findings": [{"at": each.at} | asdict(each.finding) for each in cause.findings],
        "timeline": [moment._asdict() for moment in cause.moments],
    }
