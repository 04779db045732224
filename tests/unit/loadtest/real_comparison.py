"""A real comparison: written by `lastapple compare --json` on two cores with other load."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadtest.machine import Machine
from loadtest.rows import ComparisonRow, Yardstick
from loadtest.run import Options


@dataclass
class Comparison:
    """The document, and the objects from which it was written."""

    document: dict[str, Any]
    machine: Machine
    options: Options
    rows: list[ComparisonRow]
    yardsticks: list[Yardstick]


def comparison() -> Comparison:
    """Return twelve rows: naive, watch, lock, atomic, three times."""
    document = json.loads(Path(__file__).with_name("comparison.json").read_text())
    return Comparison(
        document,
        Machine(**document["machine"]),
        Options(**document["options"]),
        [ComparisonRow(**row) for row in document["rows"]],
        [Yardstick(**noop) for noop in document["noop"]],
    )
