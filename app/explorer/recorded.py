"""What `lastapple explore --save` wrote, read again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import orjson
from badluck.report.trace import Step
from badluck.search.names import LETTERS
from badluck.target import BUYERS

from app.domain import ROUND_BOUNDS, Invalid
from app.explorer.book import UNITS
from app.explorer.edited import Edited
from app.explorer.findings import FINDINGS
from app.explorer.student import Student
from app.explorer.targets import Target, check

SOMEBODYS = ("goes", "lost", "crash")  # what a buyer does
EVERYBODYS = ("pause", "time", "failover")
STRANDS = 100  # of one buyer, at the most
LONGEST = 366 * 86_400_000  # ms that a schedule may take
SHOWN = 1 << 40  # the most that any number is which is compared, and nothing else


class Recorded(NamedTuple):
    """The target, its buyers' names, and the schedule of each finding."""

    target: Target | Student
    names: str
    traces: dict[str, list[Step]]
    again: bool  # asked was whether A is starved
    changed: bool  # the student's file is not what it was


def read(text: bytes) -> Recorded:
    """Raises Invalid, with what is wrong, when it is nothing that we wrote."""
    try:
        document = Edited(orjson.loads(text), "")
    except orjson.JSONDecodeError as error:
        raise Invalid(
            {"file": f"This is no file of `lastapple explore --save`, nor any JSON: {error}."}
        ) from error
    names = LETTERS[: document.number("buyers", *BUYERS)]
    again: bool = document.one_of("again", (False, True))
    traces: dict[str, list[Step]] = {}
    for finding in document.parts("findings", "finding"):
        name: str = finding.one_of("name", FINDINGS)
        if name in traces:
            finding.refuse(f"there are two of {name!r}")
        traces[name] = _steps(finding, names, again)
    target = _target(document)
    changed = False
    if isinstance(target, Student):
        if again:
            document.refuse("a file of one's own cannot be asked whether A is starved")
        changed = target.identity()["sha256"] != document.text("sha256")
    return Recorded(target, names, traces, again, changed)


def _target(document: Edited) -> Target | Student:
    stock = document.number("stock", *UNITS)
    resend = document.one_of("retries", (0, "default")) == "default"
    if "file" in document.members:
        return _student(document.text("file"), stock, resend)
    name = document.text("target")
    check(name)
    bound = ROUND_BOUNDS["think"]
    return Target(
        name,
        stock,
        document.number("quantity", *UNITS),
        document.number("think", bound.low, bound.high),
        resend,
    )


def _student(file: str, stock: int, resend: bool) -> Student:
    if not os.path.isfile(file):  # Path's own raises for what can be no file's name
        raise Invalid({"file": f"{file!r:.200}, whose schedules these are, is not there."})
    student = Student(Path(file), stock, resend)
    try:
        student.identity()
    except OSError as error:
        raise Invalid({"file": f"{file} cannot be read: {error.strerror}."}) from error
    return student


def _steps(finding: Edited, names: str, again: bool) -> list[Step]:
    steps: list[Step] = []
    for part in finding.parts("trace", "step"):
        steps.append(_step(part, names, again))
        if len(steps) > 1 and steps[-1].at < steps[-2].at:
            part.refuse("'at' is earlier than of the step before")
    return steps


def _step(part: Edited, names: str, again: bool) -> Step:
    somebodys = (*SOMEBODYS, "again") if again else SOMEBODYS
    does: str = part.one_of("does", (*somebodys, *EVERYBODYS))
    step = Step(
        part.one_of("buyer", tuple(names) if does in somebodys else ("",)),
        part.number("strand", 0, STRANDS),
        does,
        part.number("at", 0, LONGEST),
        part.texts("lines"),
        part.texts("said"),
        part.text("told"),
        part.number("left", -SHOWN, SHOWN),
        part.text("lock"),
        part.number("sold", 0, SHOWN),
    )
    if does in ("pause", "time") and len(step.lines) != 1:
        part.refuse("'lines' does not say how long it takes")
    return step
