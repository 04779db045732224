"""Explore and replay a student's own code, in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from badluck.faults import Faults
from badluck.report.replay import ReplayedStep
from badluck.report.report import Report
from badluck.report.trace import Step
from badluck.sandbox import client

from app.explorer.errors import in_the_shops_words
from app.explorer.student import Student
from app.store import embedded


def explore(student: Student, buyers: int, faults: Faults) -> Report:
    """Explore the student's code.

    Raises BadSell for errors in it, ShopError if the process fails.
    """
    with in_the_shops_words():
        return client.explore(student, buyers, faults)


def replay(
    student: Student, names: str, traces: Mapping[str, Sequence[Step]], folder: Path | None
) -> dict[str, list[ReplayedStep]]:
    """Replay on a real server that has its files in `folder`, or without one in the model.

    Raises as explore().
    """
    program = str(embedded.binary()) if folder else ""
    with in_the_shops_words():
        return client.replay(student, names, traces, folder, program)
