"""A report in sentences, for people."""

from __future__ import annotations

from collections.abc import Iterator

from badluck.faults import Faults
from badluck.report.report import Finding, Report
from badluck.search.names import LETTERS
from badluck.search.paths import Cost
from badluck.target import Target


def starvation_setting(target: Target) -> str:
    """The question that `Explorer.starve` answers."""
    return f"all but A come again and again, each time {target.vocabulary.restored}; no faults"


def verdict(report: Report) -> str:
    """Return one sentence about the gravest finding."""
    name = report.target.name
    if report.findings:
        worst = report.findings[0]
        return f"{name}: {worst.name.upper()}, with {cost_text(worst.cost)}. {worst.explanation}"
    if not report.exhaustive:
        return f"{name}: nothing was found, but the search is incomplete: this proves nothing."
    if report.again:
        actor = report.target.vocabulary.actor
        return f"{name}: no {actor} can be starved. However often the others come, A gets a turn."
    return f"{name}: nothing goes wrong in any order of its steps."


def budget(report: Report) -> Iterator[str]:
    """Describe the searched states, and what they do not show."""
    target, actor = report.target, report.target.vocabulary.actor
    states = _count(report.states, "state")
    setting = starvation_setting(target) if report.again else fault_text(report.faults)
    yield (
        f"{_count(report.actors, actor)} ({', '.join(LETTERS[: report.actors])}), "
        f"{target.setting}; {setting}"
    )
    if not report.exhaustive:
        yield f"stopped after {states}: {_fewer(report)}"
        return
    many = f"unlimited schedules ({actor}s ask again and again)"
    if report.schedules is not None:
        many = _count(report.schedules, "schedule")
    yield (
        f"{many}, {states}, all of them looked at in {report.seconds:.2f} s; more {actor}s, more "
        "faults and what the model of the server lacks are not part of that"
    )


def _fewer(report: Report) -> str:
    if report.actors == 1 and not any(report.faults):
        return "it comes to no end by itself; a loop that changes something at each turn?"
    return f"fewer {report.target.vocabulary.actor}s or faults are fewer states"


def fault_text(faults: Faults) -> str:
    counts = [f"{count} {kind}" for kind, count in faults._asdict().items() if count]
    return f"faults: {', '.join(counts)}, at the most" if counts else "no faults"


def cost_text(cost: Cost) -> str:
    faults = "no fault at all" if cost.faults == 0 else _count(cost.faults, "fault")
    switches = _count(cost.switches, "switch", "switches")
    return f"{faults}, {switches} and {_count(cost.steps, 'step')}"


def other_findings(findings: list[Finding]) -> Iterator[str]:
    """Name the other findings, a line each."""
    for finding in findings:
        yield f"{finding.name}, with {cost_text(finding.cost)}. {finding.explanation}"


def _count(number: int, what: str, many: str = "") -> str:
    return f"{number:,} {what if number == 1 else many or what + 's'}"
