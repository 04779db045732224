"""One process of the shop under test: started, killed, frozen, and never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import psutil
from servers.family import family
from servers.process import start
from servers.waiting import wait

from loadtest.chaos import ChaosFailed, reaper

DYING = 2.0  # s that the system may take to end a killed process


class Reaper:
    """The program that ends all processes if the harness itself is killed."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-I", reaper.__file__, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout  # noqa: S101  a pipe was asked for
        with self.process.stdout as output:
            output.readline()  # from now on no signal from a terminal ends it

    def tell(self, *words: object) -> None:
        assert self.process.stdin  # noqa: S101  a pipe was asked for
        with suppress(OSError):  # it has ended already
            print(*words, file=self.process.stdin, flush=True)

    def done(self) -> None:
        """Tell it that all has ended in order."""
        with self.process:
            self.tell("done")


class Process:
    """A process with a session of its own. Call all but `alive` in the main thread."""

    def __init__(
        self,
        reaper: Reaper,
        command: list[str],
        log: Path,
        environ: Mapping[str, str],
        user: str | None = None,
    ) -> None:
        self.reaper, self.command, self.log = reaper, command, log
        self.environ, self.user = environ, user
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it. Raises OSError."""
        # SIGXFSZ stays ignored: a file at its limit is then an error, as a full disk is.
        options = {"env": dict(self.environ), "user": self.user, "restore_signals": False}
        self.process = start(self.command, self.log, **options)
        self.reaper.tell("+", self.process.pid)

    @property
    def pid(self) -> int:
        assert self.process  # noqa: S101  set by start()
        return self.process.pid

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def family(self) -> list[psutil.Process]:
        """Return it and all its descendants; none when it has ended."""
        return family(self.pid)

    def workers(self) -> list[psutil.Process]:
        """Return the processes that it has forked."""
        return self.family()[1:]

    def kill(self) -> None:
        """Kill it and its workers at once, also stopped ones, as if the power had failed."""
        if self.process is None:
            return
        family = self.family()
        for each in family:
            with suppress(psutil.NoSuchProcess):
                each.kill()
        with suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()
        deadline = time.monotonic() + DYING
        while any(map(_runs, family[1:])) and time.monotonic() < deadline:
            time.sleep(0.005)
        self.reaper.tell("-", self.pid)

    def freeze(self) -> None:
        self._all(signal.SIGSTOP)

    def thaw(self) -> None:
        self._all(signal.SIGCONT)

    def _all(self, number: int) -> None:
        for each in self.family():
            with suppress(psutil.NoSuchProcess):
                each.send_signal(number)


def _runs(process: psutil.Process) -> bool:
    """Return whether it runs; a zombie does not."""
    with suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


def until(holds: Callable[[], object], seconds: float, failure: str) -> None:
    """Wait until `holds()`. Raises ChaosFailed with `failure` when that takes longer."""
    if not wait(holds, seconds, 0.05):
        raise ChaosFailed(f"{failure} (waited {seconds:g} s)")
