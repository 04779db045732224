"""A report's document as `lastapple explore` wrote it before its keys were the engine's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
from badluck.report.report import Report

# `lastapple explore naive --faults none --save`, byte for byte, for ever.
NAIVE = Path(__file__).with_name("naive_as_before.json").read_bytes()


def as_before(report: Report) -> Any:
    document = orjson.loads(orjson.dumps(report.document()))
    document["buyers"] = document.pop("actors")
    for finding in document["findings"]:
        for step in finding["trace"]:
            step["buyer"], step["strand"] = step.pop("actor"), step.pop("fiber")
            shown = step.pop("shown")
            step |= {"left": shown["stock"], "lock": shown["lock"], "sold": shown["sold"]}
    return document
