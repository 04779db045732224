"""All names of `from badluck import …`."""

from badluck import invariants
from badluck.errors import BadCode, BadluckError
from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.findings.endless_wait import STARVED, STUCK
from badluck.functions.explore import explore
from badluck.functions.result import ExploreResult
from badluck.report.chart import chart
from badluck.report.report import Finding, Report
from badluck.report.verdict import budget, verdict
from badluck.rule import EndRule, Rule, StateRule, StepRule, View
from badluck.sandbox.client import explore as explore_apart
from badluck.sandbox.program import Program
from badluck.target import Target, Vocabulary

__all__ = [
    "STARVED",
    "STUCK",
    "BadCode",
    "BadluckError",
    "EndRule",
    "ExploreResult",
    "Explorer",
    "Faults",
    "Finding",
    "Program",
    "Report",
    "Rule",
    "StateRule",
    "StepRule",
    "Target",
    "View",
    "Vocabulary",
    "budget",
    "chart",
    "explore",
    "explore_apart",
    "invariants",
    "verdict",
]
