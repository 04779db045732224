"""What `lastapple explore --save` wrote, read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import orjson

from app.domain import Invalid
from app.explorer.names import LETTERS
from app.explorer.student import Student
from app.explorer.targets import Target, check
from app.explorer.trace import Step


class Recorded(NamedTuple):
    """The target, its buyers' names, and the schedule of each finding."""

    target: Target | Student
    names: str
    traces: dict[str, list[Step]]
    changed: bool  # the student's file is not what it was


def read(text: bytes) -> Recorded:
    """Raises Invalid when it is nothing that we wrote."""
    try:
        document: Any = orjson.loads(text)
        target = _target(document)
        names = LETTERS[: int(document["buyers"])]
        traces = {
            str(finding["name"]): [Step(**step) for step in finding["trace"]]
            for finding in document["findings"]
        }
    except (ValueError, TypeError, KeyError) as error:
        raise Invalid(
            {"file": f"This is no trace of `lastapple explore --save`: {error}"}
        ) from error
    changed = False
    if isinstance(target, Target):
        check(target.name)
    else:
        if not target.path.is_file():
            raise Invalid({"file": f"{target.path}, whose schedules these are, is not there."})
        changed = target.identity()["sha256"] != document.get("sha256")
    for steps in traces.values():
        if unknown := {step.buyer for step in steps} - {"", *names}:
            raise Invalid({"file": f"The trace speaks of buyers that it has not: {unknown}"})
    return Recorded(target, names, traces, changed)


def _target(document: Any) -> Target | Student:
    stock, resend = int(document["stock"]), document["retries"] == "default"
    if "file" in document:
        return Student(Path(document["file"]), stock, resend)
    quantity, think = int(document["quantity"]), int(document["think"])
    return Target(str(document["target"]), stock, quantity, think, resend)
