"""The cases as both servers have played them, for a browser: played once, and kept.

A process of its own plays them: `lastapple transactions --json`. A request polls whether it has
ended. So a server of greenlets can use it, and no second process starts at the same time.
"""

from __future__ import annotations

import json
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from servers.process import end, start

from app.domain import ShopError
from app.lab.transactions import CASES, Case, Reading, Result, ServerStep, joined

COMMAND = (sys.executable, "-m", "app.cli", "transactions", "--json")
HANGS_S = 90.0  # it ends by itself long before: each of its waits is bounded


class NotPlayed(ShopError):
    """Raised when the cases could not be played; has the error text of the process that tried."""


class _Playing:
    """The process, and the files with both servers' replies."""

    def __init__(self) -> None:
        self.until = time.monotonic() + HANGS_S  # then it hangs
        self.files = ExitStack()
        self.said = self.files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  `files` closes it
        self.complained = self.files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  `files` closes it
        self.process = start(COMMAND, stdout=self.said, stderr=self.complained)

    def over(self) -> bool:
        """Return whether it has ended; one that hangs is killed."""
        if time.monotonic() > self.until:
            self.end()
        return self.process.poll() is not None

    def results(self) -> dict[str, Result]:
        """Return the results when it is over. Raises NotPlayed when some are missing."""
        with self.files:
            self.said.seek(0)
            self.complained.seek(0)
            try:
                rows = {row["name"]: row for row in json.load(self.said)}
                return {case.name: _result(case, rows[case.name]) for case in CASES}
            except (ValueError, KeyError) as error:
                words = self.complained.read().decode(errors="replace").strip()
                raise NotPlayed(words.removeprefix("Error: ") or "It said nothing.") from error

    def end(self) -> None:
        end(self.process, signal.SIGTERM)


class Recordings:
    """The recordings of one server; its threads, or greenlets, may all use them."""

    def __init__(self) -> None:
        self.looking = threading.Lock()
        self.playing: _Playing | None = None
        self.played: dict[str, Result] = {}  # by the case's name
        self.failed: NotPlayed | None = None

    def results(self, seconds: float) -> dict[str, Result] | None:
        """Return all cases by name. None: they have not finished in `seconds`; ask again.

        Raises NotPlayed, until `again`.
        """
        until = time.monotonic() + seconds
        while True:
            with self.looking:
                self._look()
            if self.failed:
                raise self.failed
            if self.played:
                return self.played
            if time.monotonic() >= until:
                return None
            time.sleep(0.05)

    def again(self) -> None:
        """Play them again; no effect while they are being played."""
        with self.looking:
            self.played, self.failed = {}, None

    def close(self) -> None:
        """End the process; it stops its servers."""
        with self.looking:
            playing, self.playing = self.playing, None
            if playing:
                with playing.files:
                    playing.end()

    def _look(self) -> None:
        if self.played or self.failed:
            return
        self.playing = self.playing or _Playing()
        if self.playing.over():
            playing, self.playing = self.playing, None
            try:
                self.played = playing.results()
            except NotPlayed as error:
                self.failed = error


def _result(case: Case, row: Mapping[str, Any]) -> Result:
    """Return a result with the case's own Texts, which can be translated."""
    return joined(case, _reading(row["valkey"]), _reading(row["postgresql"]))


def _reading(row: Mapping[str, Any]) -> Reading:
    steps = [ServerStep(**step) for step in row["steps"]]
    return Reading(steps, row["before"], row["after"], row["so"], row["as_taught"])
