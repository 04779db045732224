"""Schedules in a file, as a report's document has them, read again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from badluck.faults import FAULTS
from badluck.report.checked_json import CheckedJson
from badluck.report.trace import Step
from badluck.search.names import LETTERS
from badluck.target import ACTORS, Shown

# Steps of one actor, and steps of all.
ACTOR_STEPS = ("goes", "arrives", *(fault.name for fault in FAULTS.values() if fault.befalls_one))
SHARED_STEPS = ("time", *(fault.name for fault in FAULTS.values() if not fault.befalls_one))
FIBERS = 100  # of one actor, at most
MAX_DURATION_MS = 366 * 86_400_000  # ms that a schedule may take
MAX_NUMBER = 1 << 40  # the largest number in a file that is only compared


Columns = Mapping[str, type[int] | type[str]]  # of a target's Shown, with the types of values


class SavedTraces(NamedTuple):
    names: str  # the actors'
    traces: dict[str, list[Step]]  # the schedule of each finding
    again: bool  # the question was whether the first actor is starved


def read_traces(
    document: CheckedJson,
    findings: Collection[str],
    columns: Columns,
    actors: tuple[int, int] = ACTORS,
) -> SavedTraces:
    """Read the schedules; `findings` are the known names. Raises Unreadable for an invalid file."""
    names = LETTERS[: document.number("actors", *actors)]
    again: bool = document.one_of("again", (False, True))
    traces: dict[str, list[Step]] = {}
    for finding in document.parts("findings", "finding"):
        name: str = finding.one_of("name", findings)
        if name in traces:
            finding.refuse(f"there are two of {name!r}")
        traces[name] = _steps(finding, names, again, columns)
    return SavedTraces(names, traces, again)


def _steps(finding: CheckedJson, names: str, again: bool, columns: Columns) -> list[Step]:
    steps: list[Step] = []
    for part in finding.parts("trace", "step"):
        steps.append(_step(part, names, again, columns))
        if len(steps) > 1 and steps[-1].at < steps[-2].at:
            part.refuse("'at' is earlier than of the step before")
    return steps


def _step(part: CheckedJson, names: str, again: bool, columns: Columns) -> Step:
    actor_steps = (*ACTOR_STEPS, "again") if again else ACTOR_STEPS
    does: str = part.one_of("does", (*actor_steps, *SHARED_STEPS))
    step = Step(
        part.one_of("actor", tuple(names) if does in actor_steps else ("",)),
        part.number("fiber", 0, FIBERS),
        does,
        part.number("at", 0, MAX_DURATION_MS),
        part.texts("lines"),
        part.texts("said"),
        part.text("told"),
        _shown(part.part("shown"), columns),
        part.text("line") if "line" in part.members else "",
    )
    if does in ("pause", "time") and len(step.lines) != 1:
        part.refuse("'lines' does not say how long it takes")
    return step


def _shown(part: CheckedJson, columns: Columns) -> Shown:
    return {
        name: part.number(name, -MAX_NUMBER, MAX_NUMBER) if kind is int else part.text(name)
        for name, kind in columns.items()
    }
