"""Files of `lastapple explore --save`: read for any target, and replayed on model or servers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import badluck.target
import orjson
from badluck.backend import Backend
from badluck.real_server.backend import RealBackend, real_backend
from badluck.report import replay as engine
from badluck.report.checked_json import CheckedJson, Unreadable
from badluck.report.replay import ReplayedStep
from badluck.report.saved_traces import read_traces
from badluck.report.trace import Step

from app.domain import ROUND_BOUNDS, Invalid
from app.explorer.book import UNITS
from app.explorer.errors import in_the_shops_words
from app.explorer.hold_target import Holding
from app.explorer.repairing import REPAIRS, Repairing
from app.explorer.student import Student
from app.explorer.targets import Target, check
from app.store import embedded


@contextmanager
def servers(folder: Path, many: int, program: str | None = None) -> Iterator[RealBackend]:
    """Start `many` embedded Valkeys, or servers of another `program`, with their files in `folder`.

    Raises ShopError when one cannot be started, or fails in the middle.
    """
    with (
        in_the_shops_words(),
        real_backend(folder, many, program or str(embedded.binary())) as made,
    ):
        yield made


def replay(
    target: badluck.target.Target, names: Sequence[str], steps: Sequence[Step], where: Backend
) -> list[ReplayedStep]:
    """Replay all steps up to the first that differs.

    Raises ShopError for one that cannot be played.
    """
    with in_the_shops_words():
        return engine.replay(target, names, steps, where)


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
