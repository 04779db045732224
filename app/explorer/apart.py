"""Explore and replay a student's own code, in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from app.explorer import own_apart
from app.explorer.faults import Faults
from app.explorer.replay import Played
from app.explorer.report import Report
from app.explorer.shop_errors import in_the_shops_words
from app.explorer.student import Student
from app.explorer.trace import Step
from app.store import embedded


def explore(student: Student, buyers: int, faults: Faults) -> Report:
    """Raises BadSell for what is wrong with the code, ShopError when the process fails."""
    with in_the_shops_words():
        return own_apart.explore(student, buyers, faults)


def replay(
    student: Student, names: str, traces: Mapping[str, Sequence[Step]], folder: Path | None
) -> dict[str, list[Played]]:
    """On a real server that has its files in `folder`, or without one in the model.

    Raises as explore().
    """
    program = str(embedded.binary()) if folder else ""
    with in_the_shops_words():
        return own_apart.replay(student, names, traces, folder, program)
