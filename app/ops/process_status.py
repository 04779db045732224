"""Process status in files, as the store may be down.

The supervisor writes all processes' states, read by shop and lab. fulfil has no port to ask: it
touches its heartbeat file with every turn of its loop. Readers check only that the time of the last
touch changes. Its age could only be told by clocks that may be set; time.monotonic() is common to
all processes of a machine, and is never set back.
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
TURN = 5.0  # s that a turn may take, plus its wait for the database


class HeartbeatFile:
    """fulfil's heartbeat: written by fulfil, watched by others."""

    def __init__(self, settings: Settings) -> None:
        self.file = settings.var / "fulfil.beat"
        self.longest = TURN + settings.database_timeout / 1000  # s between two touches
        self.seen = self._touched()

    def give(self) -> None:
        """Touch the file.

        A full disk must not stop fulfil: an existing file can be touched there.
        """
        with suppress(OSError):
            self.file.touch()

    def moved(self) -> bool:
        """Return whether the file was touched since the last call (or since `__init__`)."""
        before, self.seen = self.seen, self._touched()
        return self.seen != before

    def awaited(self) -> bool:
        """Wait `longest` s at most for the next touch; return whether it came."""
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


TOLD = 1.0  # s between two reports, if nothing changes


class ProcessState(StrEnum):
    """The state of one process that `up` keeps."""

    RUNNING = "running"
    STARTING = "starting"  # it runs, and has not answered yet
    DOWN = "down"  # it died; its restart waits
    HUNG = "hung"  # it runs, and has not answered for long


@dataclass(frozen=True)
class ProcessStatus:
    """One process. `deaths` are those in a row; `silent` is s since it last answered."""

    name: str
    essential: bool
    state: ProcessState
    deaths: int
    silent: float


@dataclass(frozen=True)
class Report:
    """The supervisor's last report, `age` s ago."""

    age: float
    processes: list[ProcessStatus]


def write(file: Path, processes: list[ProcessStatus]) -> None:
    """Write the file whole or not at all.

    On a full disk it stays old: the supervisor must not end.
    """
    new = file.with_suffix(".new")
    with suppress(OSError):
        new.write_bytes(orjson.dumps({"at": time.monotonic(), "processes": processes}))
        os.replace(new, file)


def read(file: Path) -> Report | None:
    """Return the supervisor's report; None if the file is missing (no supervisor) or unreadable."""
    try:
        document = orjson.loads(file.read_bytes())
        rows = document["processes"]
        each = [ProcessStatus(**row | {"state": ProcessState(row["state"])}) for row in rows]
        return Report(abs(time.monotonic() - document["at"]), each)  # abs: after a reboot
    except (OSError, ValueError, KeyError, TypeError):
        return None
