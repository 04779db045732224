"""Run several processes as one: start in order, restart what dies, stop in the reverse order."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.store.orphans import end_with_parent

MOST_DEATHS = 5  # a child's, within DEATH_WINDOW, before we give up
DEATH_WINDOW = 60.0  # s
PAUSE = 0.2  # s before the first restart; doubled with every death in the window
TICK = 0.05  # s between two looks at the children


class GivenUp(Exception):
    """A child cannot be kept running. The text ends with the tail of its log."""


@dataclass
class Child:
    """One process. `ready` asks whether it serves; `grace` is s to end after SIGTERM.

    Those of one `stage` are stopped together, those of a higher stage before.
    """

    name: str
    command: list[str]
    log: Path
    ready: Callable[[], bool]
    stage: int
    grace: float
    patience: float = 20.0  # s to become ready
    process: subprocess.Popen[bytes] | None = None
    deaths: deque[float] = field(default_factory=deque)
    restart_at: float = 0.0

    def start(self, environ: Mapping[str, str]) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(environ),
                start_new_session=True,  # the terminal's Ctrl-C is for us; we stop them in order
                preexec_fn=end_with_parent,
            )

    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def terminate(self) -> None:
        if self.process and self.alive():
            self.process.terminate()

    def finish(self, asked: float) -> bool:
        """Wait for its end; SIGKILL when its grace since `asked` is over. True: by itself."""
        if self.process is None:
            return True
        try:
            self.process.wait(max(0.0, asked + self.grace - time.monotonic()))
            return True
        except subprocess.TimeoutExpired:
            # Its session, so that no worker of it stays behind.
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            return False

    def tail(self) -> str:
        """The last lines it said."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return "\n".join(f"    {line}" for line in lines[-12:])


class Supervisor:
    """Children in the order they need each other; `say` tells the person what happens."""

    def __init__(
        self, children: list[Child], environ: Mapping[str, str], say: Callable[[str], None]
    ) -> None:
        self.children = children
        self.environ = environ
        self.say = say
        self.stopping = False

    def start(self, child: Child) -> None:
        """Start one and wait until it serves. Raises GivenUp."""
        child.start(self.environ)
        deadline = time.monotonic() + child.patience
        while not self.stopping and not child.ready():
            if not child.alive():
                raise GivenUp(f"{child.name} ended at its start:\n{child.tail()}")
            if time.monotonic() > deadline:
                raise GivenUp(
                    f"{child.name} is not ready after {child.patience:g} s:\n{child.tail()}"
                )
            time.sleep(TICK)

    def watch(self) -> None:
        """Keep them running until `stopping` is set. Raises GivenUp."""
        while not self.stopping:
            for child in self.children:
                if not child.alive():
                    self._revive(child)
            time.sleep(TICK)

    def _revive(self, child: Child) -> None:
        now = time.monotonic()
        if child.process is not None:  # it has just died
            code = child.process.returncode
            child.process = None
            child.deaths.append(now)
            while child.deaths[0] < now - DEATH_WINDOW:
                child.deaths.popleft()
            if len(child.deaths) >= MOST_DEATHS:
                raise GivenUp(
                    f"{child.name} died {MOST_DEATHS} times in a minute:\n{child.tail()}\n"
                    f"  Its whole log: {child.log}"
                )
            pause = PAUSE * 2 ** (len(child.deaths) - 1)
            child.restart_at = now + pause
            self.say(f"{child.name} died (exit status {code}); starting it again in {pause:.1f} s")
        elif now >= child.restart_at:
            child.start(self.environ)

    def stop(self) -> None:
        """Stage by stage, the highest first."""
        for stage in sorted({child.stage for child in self.children}, reverse=True):
            together = [child for child in self.children if child.stage == stage]
            asked = time.monotonic()
            for child in together:
                child.terminate()
            for child in together:
                if not child.finish(asked):
                    self.say(f"{child.name} did not end in {child.grace:g} s and was killed")
