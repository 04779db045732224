"""How the processes of `lastapple up` stand: told by the supervisor, read by shop and lab.

A file, as the store may be what is down. Its moment is of time.monotonic(), which all processes of
a machine share and nobody sets back.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import orjson

TOLD = 1.0  # s between two tellings, if nothing changes


class State(StrEnum):
    """Of one process that `up` keeps."""

    RUNNING = "running"
    STARTING = "starting"  # it runs, and has not answered yet
    DOWN = "down"  # it died; its restart waits
    HUNG = "hung"  # it runs, and has not answered for long


@dataclass(frozen=True)
class Standing:
    """One process. `deaths` one soon after the other; `silent` s since it last answered."""

    name: str
    essential: bool
    state: State
    deaths: int
    silent: float


def tell(file: Path, standings: list[Standing]) -> None:
    """Whole or not at all. On a full disk nothing is told: that must not end the supervisor."""
    new = file.with_suffix(".new")
    with suppress(OSError):
        new.write_bytes(orjson.dumps({"at": time.monotonic(), "processes": standings}))
        os.replace(new, file)


def told(file: Path) -> tuple[float, list[Standing]] | None:
    """How many s ago it was told, and what. None: no supervisor keeps us."""
    try:
        document = orjson.loads(file.read_bytes())
        rows = [Standing(**row | {"state": State(row["state"])}) for row in document["processes"]]
        return abs(time.monotonic() - document["at"]), rows  # it began anew if the machine did
    except (OSError, ValueError, KeyError, TypeError):
        return None
