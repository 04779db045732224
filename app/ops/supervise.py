"""Run several processes as one: start in order, restart what dies, stop in the reverse order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from app.ops import logs, process_status
from app.ops.child import Child
from app.ops.process_status import TOLD, ProcessState, ProcessStatus

# Deaths of an essential child, none later than STEADY after its start, before we give up. With the
# pauses between them they take at least 73 s: a disk that is full for a moment ends nothing.
MOST_DEATHS = 7
STEADY = 60.0  # s of life after which the count of deaths begins again
PAUSE = 0.2  # s before the first restart, and three times as long with every death
LONGEST_PAUSE = 60.0  # s; reached with the seventh death
TICK = 0.05  # s between two looks at the children
STALL = 1.0  # s of a tick that count as silence: if we stalled ourselves, all may have


class GivenUp(Exception):
    """A child cannot be kept running. The text ends with the tail of its log."""


class Supervisor:
    """Children in the order in which they need each other; `say` prints for the person.

    `view` is the file in which other processes read the children's states. A child that runs and
    has not answered for `hang_limit` s is killed and started again; 0: never.
    """

    def __init__(
        self,
        children: list[Child],
        environ: Mapping[str, str],
        say: Callable[[str], None],
        view: Path,
        hang_limit: float = 0.0,
    ) -> None:
        self.children = children
        self.environ = environ
        self.say = say
        self.view = view
        self.hang_limit = hang_limit
        self.stopping = False
        self.deaf = threading.Event()  # set when no child needs to be asked any more
        self.told: list[tuple[str, ProcessState]] = []
        self.tell_at = 0.0
        view.unlink(missing_ok=True)  # a killed one's

    def start(self, child: Child) -> bool:
        """Start a child and return whether it serves.

        Raises GivenUp if it does not and is essential.
        """
        problem = self._start(child)
        if problem and child.essential:
            raise GivenUp(f"{child.name} {problem}:\n{child.tail()}")
        if problem:
            self.say(f"{child.name} {problem}; going on without it:\n{child.tail()}")
        return not problem

    def _start(self, child: Child) -> str:
        """Start a child and wait; return what went wrong, or ""."""
        try:
            child.start(self.environ)
        except OSError as error:
            return f"could not be started ({error.strerror})"
        deadline = time.monotonic() + child.patience
        while not self.stopping and not child.ready():
            if not child.alive():
                return "ended at its start"
            if time.monotonic() > deadline:
                return f"is not ready after {child.patience:g} s"
            time.sleep(TICK)
        return ""

    def watch(self) -> None:
        """Restart children that die or hang, until `stopping` is set. Raises GivenUp."""
        for child in self.children:
            threading.Thread(target=child.listen, args=(self.deaf,), daemon=True).start()
        last = time.monotonic()
        while not self.stopping:
            now = time.monotonic()
            for child in self.children:
                child.silent += min(now - last, STALL)
                if not child.alive():
                    self._revive(child)
                elif self.hang_limit and child.silent > self.hang_limit:
                    self.say(f"{child.name} has not answered for {child.silent:.0f} s; killing it")
                    child.kill()
                    child.silent = 0.0
            last = now
            self._tell()
            time.sleep(TICK)

    def _revive(self, child: Child) -> None:
        if child.process is not None:  # it has just died
            code = child.process.returncode
            child.process = None
            self._died(child, f"died (exit status {code})")
        elif time.monotonic() >= child.restart_at:
            try:
                child.start(self.environ)
            except OSError as error:
                self._died(child, f"could not be started ({error.strerror})")

    def _died(self, child: Child, how: str) -> None:
        now = time.monotonic()
        child.deaths = 1 if now - child.born > STEADY else child.deaths + 1
        if child.essential and child.deaths >= MOST_DEATHS:
            raise GivenUp(
                f"{child.name} died {MOST_DEATHS} times, one soon after the other:\n"
                f"{child.tail()}\n  Its whole log: {child.log}"
            )
        pause = min(LONGEST_PAUSE, PAUSE * 3 ** min(child.deaths - 1, MOST_DEATHS))
        child.restart_at = now + pause
        self.say(f"{child.name} {how}; starting it again in {pause:.1f} s")

    def _tell(self) -> None:
        """Write the states: at once when one has changed, else every TOLD s, as a sign of life."""
        standings = [child.status() for child in self.children]
        states = [(each.name, each.state) for each in standings]
        now = time.monotonic()
        if states == self.told and now < self.tell_at:
            return
        self._say_what_hangs(standings)
        self.told, self.tell_at = states, now + TOLD
        process_status.write(self.view, standings)
        for child in self.children:
            logs.trim(child.log)

    def _say_what_hangs(self, standings: list[ProcessStatus]) -> None:
        for each in standings:
            hung = (each.name, ProcessState.HUNG) in self.told
            if each.state is ProcessState.HUNG and not hung:
                self.say(f"{each.name} runs and has not answered for {each.silent:.0f} s")
            elif each.state is ProcessState.RUNNING and hung:
                self.say(f"{each.name} answers again")

    def stop(self) -> None:
        """Stop all, stage by stage, the highest first. Kill a child when its grace is over."""
        self.deaf.set()
        for stage in sorted({child.stage for child in self.children}, reverse=True):
            together = [child for child in self.children if child.stage == stage]
            started = time.monotonic()
            for child in together:
                child.terminate()
            for child in together:
                if not child.finish(started):
                    self.say(
                        f"{child.name} did not end in {child.grace:g} s and was killed. "
                        "No confirmed sale is lost, unless DURABILITY is fast."
                    )
        with suppress(OSError):
            self.view.unlink()
