"""The findings in a SQL mode, as a document and in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from badluck.faults import Faults
from badluck.report.report import Finding
from badluck.report.trace import Step
from badluck.report.verdict import cost_text

from app.explorer.findings import FINDINGS
from app.explorer.sql.statement import Level
from app.explorer.targets import Target


@dataclass(frozen=True)
class AtLevel:
    """All orders at one isolation level."""

    level: Level
    exhaustive: bool
    schedules: int | None  # None: not all are known
    states: int
    runs: int  # on the server, from a fresh shelf
    outcomes: Counter[tuple[str, ...]]  # both buyers' outcomes, and in how many orders
    findings: list[Finding]
    blocks: list[Step]  # one order in which a buyer waits; empty when none ever does


@dataclass(frozen=True)
class SqlReport:
    target: Target
    server: str  # PostgreSQL 16.10
    seconds: float
    levels: list[AtLevel]

    @property
    def findings(self) -> list[tuple[Level, Finding]]:
        """The findings, the gravest first, each at the lowest level that has it."""
        findings = [(each.level, finding) for each in self.levels for finding in each.findings]
        return sorted(findings, key=lambda one: list(FINDINGS).index(one[1].name))

    @property
    def exhaustive(self) -> bool:
        return all(each.exhaustive for each in self.levels)

    def document(self) -> dict[str, Any]:
        """Return the members of a report about Redis, over all levels, and also `levels`."""
        many = [each.schedules for each in self.levels if each.schedules is not None]
        return {
            "target": self.target.name,
            "actors": 2,
            "stock": self.target.stock,
            "quantity": self.target.quantity,
            "think_ms": self.target.think,
            "retries": 0,
            "faults": Faults()._asdict(),
            "server": self.server,
            "exhaustive": self.exhaustive,
            "inconclusive": not self.exhaustive and not self.findings,
            "schedules": sum(many) if self.exhaustive else None,
            "states": sum(each.states for each in self.levels),
            "seconds": round(self.seconds, 3),
            "levels": [
                {
                    "level": each.level,
                    "schedules": each.schedules,
                    "states": each.states,
                    "runs": each.runs,
                    "told": {" and ".join(words): many for words, many in each.outcomes.items()},
                    "blocks": [step._asdict() for step in each.blocks],
                }
                for each in self.levels
            ],
            "findings": [
                {
                    "name": finding.name,
                    "level": level,
                    "cost": list(finding.cost),
                    "explanation": finding.explanation,
                    "trace": [step.document() for step in finding.trace],
                }
                for level, finding in self.findings
            ],
        }


def verdict(report: SqlReport) -> str:
    """Return one sentence about the gravest finding."""
    name = report.target.name
    if report.findings:
        level, worst = report.findings[0]
        return f"{name}: {worst.name.upper()} at {line(level, worst).removeprefix(worst.name)}"
    if not report.exhaustive:
        return f"{name}: nothing was found, but the search is incomplete: this proves nothing."
    return f"{name}: nothing goes wrong on {report.server} in any order of its statements."


def line(level: Level, finding: Finding) -> str:
    return f"{finding.name} at {level}, with {cost_text(finding.cost)}. {finding.explanation}"


def budget(report: SqlReport) -> Iterator[str]:
    """Yield sentences about what was explored, and what that does not show."""
    target = report.target
    units = "unit" if target.stock == 1 else "units"
    each = f", {target.quantity} each" if target.quantity > 1 else ""
    yield f"2 buyers (A, B), {target.stock} {units} on the shelf{each}, on {report.server}:"
    for at in report.levels:
        if at.schedules is None:
            yield f"  {at.level}: stopped after {at.runs:,} runs, with more to see"
            continue
        outcomes = "; ".join(
            f"{' and '.join(words)} in {many:,}" for words, many in at.outcomes.items()
        )
        yield (
            f"  {at.level}: {at.schedules:,} orders, {at.states:,} states, {at.runs:,} runs; "
            f"told {outcomes}"
        )
    yield (
        f"every step was made on that server, in {report.seconds:.1f} s; orders that differ in the "
        "turn of steps on other tables only were run once; stock: what others can see, so after "
        "COMMIT. No faults; no buyer's patience runs out"
    )
