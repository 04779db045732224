"""The lab's jobs, made small: a request may ask for 512 buyers, two minutes, any search.

Only the work is small: the lab's own code starts it, finds it, stops it and reports the result.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event, Thread, Timer
from typing import cast

import orjson
import pytest

from app.bootstrap import Services
from app.lab.explorer import search_process as explorer_process
from app.lab.stampede.drivers import Drivers
from app.lab.stampede.record import How
from app.lab.stampede.sample import Sample
from app.lab.transactions import recordings
from app.store import runs as records

ON_S = 0.1  # for a run, unless it is stopped
COMPARED_S = 0.6  # for a comparison, however many runs it has planned
SEARCH_S = 0.02  # for a search of the explorer, which has half a minute
DESK = f"from app.explorer import desk; desk.SEARCH = {SEARCH_S}; desk.main()"


class Part:
    """A thread where the lab has a process, with the methods of one that `Conduct` uses."""

    def __init__(self, deed: Callable[[], object]) -> None:
        self.thread = Thread(target=deed)
        self.thread.start()

    def poll(self) -> int | None:
        return None if self.thread.is_alive() else 0

    def wait(self, seconds: float) -> None:
        self.thread.join(seconds)
        if self.thread.is_alive():
            raise subprocess.TimeoutExpired("a part", seconds)

    def terminate(self) -> None:
        """Do nothing: it is over in a moment anyway."""


class Soon:
    """`compared` counts the runs that comparisons have started."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.parts: list[Part] = []
        self.compared = 0

    def launch(self, drivers: Drivers, kind: str, id: str) -> None:
        """Replace Drivers.launch."""
        deed = self.drive if kind == "stampede" else self.conduct
        part = Part(partial(deed, id))
        drivers.children = [cast("subprocess.Popen[bytes]", part)]
        self.parts = [*(each for each in self.parts if each.poll() is None), part]

    def drive(self, id: str) -> None:
        """Drive a run without buyers."""
        runs = self.services.runs
        run, how = runs.find(id), How.FINISHED
        self.compared += bool(run.comparison)
        over = time.monotonic() + ON_S
        while time.monotonic() < over and how is How.FINISHED:
            time.sleep(0.02)
            if records.stop_wanted(runs.store, run.keys):
                how = How.STOPPED
        seen: Sample = {"phase": "settling", "at_s": ON_S, "left": run.round.stock, "sold": 0}
        records.add(runs.store, run.keys, "sample", orjson.dumps(seen))
        runs.end_round(run)
        audit = self.services.auditor.audit(run.round)
        runs.finish(replace(run, how=how, audit=audit, figures=seen))

    def conduct(self, id: str) -> None:
        """Leave a comparison unchanged until it is interrupted."""
        interrupted = Event()
        timer = Timer(COMPARED_S, interrupted.set)
        timer.start()
        self.services.conduct(interrupted).run(self.services.comparisons.find(id))
        timer.cancel()
        timer.join()

    def over(self) -> None:
        """Wait for all of it."""
        for part in self.parts:
            part.wait(20)


def play(folder: Path) -> Path:
    """Write both servers' answers for each case to a file."""
    said = folder / "played.json"
    with said.open("wb") as file:
        subprocess.run(recordings.COMMAND, stdout=file, check=True, timeout=60)
    return said


def bound(services: Services, played: Path, monkeypatch: pytest.MonkeyPatch) -> Soon:
    """Replace the lab's jobs for the rest of the test. The cases in `played` are not run again."""
    soon = Soon(services)
    monkeypatch.setattr(Drivers, "launch", lambda *asked: soon.launch(*asked))
    monkeypatch.setattr(explorer_process, "COMMAND", (sys.executable, "-c", DESK))
    monkeypatch.setattr(recordings, "COMMAND", ("cat", str(played)))
    return soon
