"""One process that the supervisor keeps: start it, ask whether it serves, end it."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from servers.process import start

from app.ops import logs
from app.ops.process_status import ProcessState, ProcessStatus

ASK = 1.0  # s between two checks whether it answers


@dataclass
class Child:
    """One process. `ready` asks whether it serves.

    Processes of one `stage` are stopped together, those of a higher stage before. Without one that
    is `essential` nothing is sold or booked. `answers` asks a running process whether it lives; a
    store that still reads its log answers that, too. Both must end by themselves within seconds.
    """

    name: str
    command: list[str]
    log: Path
    ready: Callable[[], bool]
    answers: Callable[[], bool]
    stage: int
    patience: float = 20.0  # s to become ready
    grace: float = 30.0  # s to end after SIGTERM; on a busy machine some have needed 10
    silence: float = 5.0  # s without an answer after which it counts as hung
    essential: bool = True
    process: subprocess.Popen[bytes] | None = None
    born: float = 0.0  # s of time.monotonic(), as the next
    restart_at: float = 0.0
    deaths: int = 0  # in a row, each soon after its start
    silent: float = 0.0  # s since it answered, or was started
    answered: bool = False  # since it was started

    def start(self, environ: Mapping[str, str]) -> None:
        """Start the process, in the main thread: see servers.process. Raises OSError."""
        self.born, self.silent, self.answered = time.monotonic(), 0.0, False
        logs.trim(self.log)
        with suppress(OSError), self.log.open("ab", buffering=0) as log:  # a full disk: without
            # Logs continue from start to start: this line separates them.
            log.write(f"--- {self.name} starts, {datetime.now():%Y-%m-%d %H:%M:%S}\n".encode())
        self.process = start(self.command, self.log, env=dict(environ))

    def alive(self) -> bool:
        """Return whether the process has not ended. It may hang."""
        return self.process is not None and self.process.poll() is None

    def listen(self, stop: threading.Event) -> None:
        """Ask it until `stop`, every ASK s, in a thread of its own: an answer may take a second."""
        while not stop.wait(ASK if self.answered else ASK / 10):
            process = self.process
            if process and self.answers() and process is self.process:
                self.silent, self.answered = 0.0, True

    def status(self) -> ProcessStatus:
        return ProcessStatus(self.name, self.essential, self._state(), self.deaths, self.silent)

    def _state(self) -> ProcessState:
        if self.process is None:
            return ProcessState.DOWN
        if self.silent > (self.silence if self.answered else self.patience):
            return ProcessState.HUNG
        return ProcessState.RUNNING if self.answered else ProcessState.STARTING

    def terminate(self) -> None:
        """Send SIGTERM if it runs. It ends its own workers."""
        if self.process and self.alive():
            self.process.terminate()

    def kill(self) -> None:
        """Send SIGKILL to its process group, so that none of its workers is left."""
        if self.process and self.alive():
            os.killpg(self.process.pid, signal.SIGKILL)

    def finish(self, asked: float) -> bool:
        """Wait for its end; SIGKILL when its grace since `asked` is over (s of time.monotonic()).

        True: it ended by itself, or did not run.
        """
        if self.process is None:
            return True
        try:
            self.process.wait(max(0.0, asked + self.grace - time.monotonic()))
            return True
        except subprocess.TimeoutExpired:
            self.kill()
            self.process.wait()
            return False

    def tail(self) -> str:
        """Return the last 12 lines of its log, indented; "" without a log. Raises OSError."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return "\n".join(f"    {line}" for line in lines[-12:])
