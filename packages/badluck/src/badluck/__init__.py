"""Every order in which redis-py code can run, with faults, and the shortest that breaks it.

    report = Explorer(Program(Path("buy.py"), prepare, rules), 2).explore(Faults(crash=1))
    print(verdict(report), chart(report.findings[0].trace, "AB"), sep="\\n")

A `Program` is a file with a function; whoever has other code to explore writes a `Target`.
"""

from badluck.errors import BadCode, BadluckError
from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.findings.for_ever import STARVED, STUCK
from badluck.findings.rule import OfEnd, OfState, OfStep, Rule, View
from badluck.functions import invariants
from badluck.functions.explore import explore
from badluck.functions.result import Result
from badluck.report.chart import chart
from badluck.report.report import Finding, Report
from badluck.report.verdict import budget, verdict
from badluck.run.apart import explore as explore_apart
from badluck.run.program import Program
from badluck.target import Target, Vocabulary

__all__ = [
    "STARVED",
    "STUCK",
    "BadCode",
    "BadluckError",
    "Explorer",
    "Faults",
    "Finding",
    "OfEnd",
    "OfState",
    "OfStep",
    "Program",
    "Report",
    "Result",
    "Rule",
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
