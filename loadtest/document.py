"""The comparison as one JSON document, for programs."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from loadtest.machine import Machine
from loadtest.rows import Row, Yardstick
from loadtest.run import Options

DIGITS = 4  # beyond them is noise

Figures = TypeVar("Figures", Row, Yardstick)


@dataclass(frozen=True)
class Document:
    """`rows` are the modes', `noop` the yardstick's. None: missing, or not fit to be told."""

    ended_at: str  # ISO 8601 in UTC
    machine: Machine
    options: Options
    rows: list[Row]
    noop: list[Yardstick]


def document(
    machine: Machine,
    options: Options,
    rows: list[Row],
    yardsticks: list[Yardstick],
    ended: datetime,
) -> Document:
    return Document(
        ended.astimezone(UTC).isoformat(timespec="seconds"),
        machine,
        options,
        [rounded(one) for one in rows],
        [rounded(one) for one in yardsticks],
    )


def rounded(figures: Figures) -> Figures:
    made = copy(figures)
    for name, value in vars(figures).items():
        if isinstance(value, float):
            setattr(made, name, round(value, DIGITS))
    return made
