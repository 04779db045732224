"""The report of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from badluck.faults import Faults
from badluck.report.trace import Step
from badluck.search.paths import Cost
from badluck.target import Target


@dataclass(frozen=True)
class Finding:
    """A broken rule, with the cheapest schedule that shows it."""

    name: str  # the rule's
    cost: Cost  # faults, switches between actors, steps
    explanation: str  # the rule's, one sentence
    trace: list[Step]  # the schedule


@dataclass(frozen=True)
class Report:
    """`findings`: the gravest first, each with its shortest schedule."""

    target: Target
    actors: int
    faults: Faults
    exhaustive: bool  # every order was searched, within this budget and in the model
    schedules: int | None  # None: infinitely many, as a schedule may go round in circles
    states: int
    seconds: float
    findings: list[Finding]
    again: bool = False  # the question was whether others can starve A by starting again and again
    causes: Sequence[str] = ()  # errors that need no fault, a sentence each, with its line

    def document(self) -> dict[str, Any]:
        """Convert to JSON; report/saved_traces.py reads its schedules again."""
        return {
            **self.target.identity(),
            "actors": self.actors,
            **self.target.terms(),
            "faults": self.faults._asdict(),
            "again": self.again,
            "exhaustive": self.exhaustive,
            "inconclusive": not self.exhaustive and not self.findings,
            "schedules": self.schedules,
            "states": self.states,
            "seconds": round(self.seconds, 3),
            **({"causes": [*self.causes]} if self.causes else {}),
            "findings": [
                {
                    "name": finding.name,
                    "cost": list(finding.cost),
                    "explanation": finding.explanation,
                    "trace": [step.document() for step in finding.trace],
                }
                for finding in self.findings
            ],
        }
