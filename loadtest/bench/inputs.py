"""What was asked for, checked before anything starts. All raise Invalid with a sentence."""

from __future__ import annotations

import re

from app.domain import Invalid
from loadtest.bench.cell import Shape

MOST_PROCESSES, MOST_THREADS = 64, 128  # a typing error must not swamp the machine


def names(text: str) -> list[str]:
    """Split "lease,redis-py" at the commas. Whether a lock exists `rows.choose` knows."""
    return _separate("--only", text, "lease,redis-py")


def shapes(text: str) -> list[Shape]:
    """Parse "2x4,2x16": processes x threads of each."""
    return [_shape(shape) for shape in _separate("--shapes", text, "2x4,2x16")]


def _shape(text: str) -> Shape:
    if not (match := re.fullmatch(r"(0|[1-9][0-9]{0,3})x(0|[1-9][0-9]{0,3})", text)):
        raise Invalid({"shapes": f"--shapes: {text!r} is no shape like 2x16, processes x threads"})
    shape = Shape(int(match[1]), int(match[2]))
    if not (1 <= shape.processes <= MOST_PROCESSES and 1 <= shape.threads <= MOST_THREADS):
        raise Invalid(
            {
                "shapes": f"--shapes: {text} is out of bounds: 1 to {MOST_PROCESSES} processes, "
                f"1 to {MOST_THREADS} threads in each"
            }
        )
    return shape


def _separate(option: str, text: str, example: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise Invalid({option: f"{option}: give them with a comma between, as in {example}"})
    if doubled := [part for part in dict.fromkeys(parts) if parts.count(part) > 1]:
        raise Invalid({option: f"{option}: {doubled[0]} is there twice"})
    return parts
