"""Read the files of `lastapple explore --save`, for any target."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import orjson
from badluck.report.checked_json import CheckedJson, Unreadable
from badluck.report.saved_traces import read_traces
from badluck.report.trace import Step

from app.domain import ROUND_BOUNDS, Invalid
from app.explorer.book import UNITS
from app.explorer.hold_target import Holding
from app.explorer.repairing import REPAIRS, Repairing
from app.explorer.student import Student
from app.explorer.targets import Target, check

NONE = "This is no file of `lastapple explore --save`"


class Recorded(NamedTuple):
    """The target, its buyers' names, and the schedule of each finding."""

    target: Target | Student
    names: str
    traces: dict[str, list[Step]]
    again: bool  # the search was whether A can starve
    changed: bool  # the student's file has changed


def read(text: bytes) -> Recorded:
    """Parse a saved file. Raises Invalid, with the reason, when it is not one of ours."""
    try:
        return _read(CheckedJson(orjson.loads(text), ""))
    except orjson.JSONDecodeError as error:
        raise Invalid({"file": f"{NONE}, nor any JSON: {error}."}) from error
    except Unreadable as error:
        raise Invalid({"file": f"{NONE}: {error}"}) from error


def _read(document: CheckedJson) -> Recorded:
    target = _target(document)
    known = read_traces(document, {rule.name for rule in target.rules}, target.columns)
    changed = False
    if isinstance(target, Student):
        if known.again:
            document.refuse("a file of one's own cannot be asked whether A is starved")
        changed = target.identity()["sha256"] != document.text("sha256")
    return Recorded(target, known.names, known.traces, known.again, changed)


def _target(document: CheckedJson) -> Target | Student:
    if document.members.get("target") in tuple(REPAIRS):
        return Repairing(document.text("target"), accepts=bool(document.number("accepts", 0, 1)))
    if "file" in document.members:
        stock = document.number("stock", *UNITS)
        return _student(document.text("file"), stock, _resends(document))
    usual = _mode(document)
    if "hold_ms" not in document.members:
        return usual
    hold = document.number("hold_ms", 1, ROUND_BOUNDS["hold"].high)
    return Holding(**asdict(usual), hold=hold)


def _resends(document: CheckedJson) -> bool:
    return bool(document.one_of("retries", (0, "default")) == "default")


def _mode(document: CheckedJson) -> Target:
    """Return the mode's target. Raises Unreadable, Invalid."""
    stock = document.number("stock", *UNITS)
    resend = _resends(document)
    name = document.text("target")
    check(name)
    bound = ROUND_BOUNDS["think"]
    limited = "per_buyer" in document.members
    return Target(
        name,
        stock,
        document.number("quantity", *UNITS),
        document.number("think_ms", bound.low, bound.high),
        resend,
        per_buyer=document.number("per_buyer", *UNITS) if limited else 0,
    )


def _student(file: str, stock: int, resend: bool) -> Student:
    if not os.path.isfile(file):  # Path.is_file raises for a text that can be no file name
        raise Invalid({"file": f"{file!r:.200}, whose schedules these are, is not there."})
    student = Student(Path(file), stock, resend)
    try:
        student.identity()
    except OSError as error:
        raise Invalid({"file": f"{file} cannot be read: {error.strerror}."}) from error
    return student
