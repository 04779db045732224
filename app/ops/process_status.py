"""What a process of `lastapple up` shows of itself in a file, as the store may be what is down.

The supervisor writes how all of them do, for shop and lab. fulfil serves nobody, so nobody can ask
it: it touches its heartbeat file with every turn of its loop. That the moment of the last touch
changes is what counts. How old it is, only clocks could tell, and those are set; time.monotonic()
all processes of a machine share, and nobody sets it back.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import orjson

from app.config import Settings

LOOK = 0.1  # s between two looks
TURN = 5.0  # s that a turn may take beside its wait for the database


class HeartbeatFile:
    """The sign, given and seen."""

    def __init__(self, settings: Settings) -> None:
        self.file = settings.var / "fulfil.beat"
        self.longest = TURN + settings.database_timeout / 1000  # s between two signs
        self.seen = self._touched()

    def give(self) -> None:
        """A full disk is no reason to stop: an old file can be touched there."""
        with suppress(OSError):
            self.file.touch()

    def moved(self) -> bool:
        """Was a sign given since this was asked last?"""
        before, self.seen = self.seen, self._touched()
        return self.seen != before

    def awaited(self) -> bool:
        """Wait for the next sign, for as long as a turn may take."""
        deadline = time.monotonic() + self.longest
        while not self.moved():
            if time.monotonic() > deadline:
                return False
            time.sleep(LOOK)
        return True

    def _touched(self) -> int:
        try:
            return self.file.stat().st_mtime_ns
        except OSError:
            return 0


TOLD = 1.0  # s between two tellings, if nothing changes


class ProcessState(StrEnum):
    """Of one process that `up` keeps."""

    RUNNING = "running"
    STARTING = "starting"  # it runs, and has not answered yet
    DOWN = "down"  # it died; its restart waits
    HUNG = "hung"  # it runs, and has not answered for long


@dataclass(frozen=True)
class ProcessStatus:
    """One process. `deaths` one soon after the other; `silent` s since it last answered."""

    name: str
    essential: bool
    state: ProcessState
    deaths: int
    silent: float


@dataclass(frozen=True)
class Report:
    """What the supervisor said, `age` s ago."""

    age: float
    processes: list[ProcessStatus]


def write(file: Path, processes: list[ProcessStatus]) -> None:
    """Whole or not at all. On a full disk nothing is told: that must not end the supervisor."""
    new = file.with_suffix(".new")
    with suppress(OSError):
        new.write_bytes(orjson.dumps({"at": time.monotonic(), "processes": processes}))
        os.replace(new, file)


def read(file: Path) -> Report | None:
    """None: no supervisor keeps us."""
    try:
        document = orjson.loads(file.read_bytes())
        rows = document["processes"]
        each = [ProcessStatus(**row | {"state": ProcessState(row["state"])}) for row in rows]
        return Report(abs(time.monotonic() - document["at"]), each)  # anew if the machine began so
    except (OSError, ValueError, KeyError, TypeError):
        return None
