"""What `lastapple explore --save` wrote, read again."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

from app.domain import Invalid
from app.explorer.names import LETTERS
from app.explorer.targets import Target, check
from app.explorer.trace import Step


class Recorded(NamedTuple):
    """The target, its buyers' names, and the schedule of each finding."""

    target: Target
    names: str
    traces: dict[str, list[Step]]


def read(text: bytes) -> Recorded:
    """Raises Invalid when it is nothing that we wrote."""
    try:
        document: Any = orjson.loads(text)
        target = Target(
            str(document["target"]),
            int(document["stock"]),
            int(document["quantity"]),
            int(document["think"]),
            document["retries"] == "default",
        )
        names = LETTERS[: int(document["buyers"])]
        traces = {
            str(finding["name"]): [Step(**step) for step in finding["trace"]]
            for finding in document["findings"]
        }
    except (ValueError, TypeError, KeyError) as error:
        raise Invalid(
            {"file": f"This is no trace of `lastapple explore --save`: {error}"}
        ) from error
    check(target.name)
    for steps in traces.values():
        if unknown := {step.buyer for step in steps} - {"", *names}:
            raise Invalid({"file": f"The trace speaks of buyers that it has not: {unknown}"})
    return Recorded(target, names, traces)
