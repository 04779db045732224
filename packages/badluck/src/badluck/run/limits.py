"""What somebody's own code may not do while it is explored, and how long and how much it may.

It is not for defence against malice: it is for a clear word where code would hang, or reach for
what the search does not see.
"""

from __future__ import annotations

import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from greenlet import getcurrent

from badluck.actor import wrong
from badluck.actor.fiber import Fiber
from badluck.explorer import Explorer
from badluck.run.job import OwnTarget

SEARCH = 10  # s; then no state more is looked at, and what was found until then is shown
SHOWING = 10  # s more, for that
DEADLINE = SEARCH + SHOWING  # s for all of it, also on the processor
SILENCE = 2  # s in which code may go on without a command, a sleep or an end
MEMORY = 1 << 30  # bytes of address space
IN_WORDS = f"{DEADLINE} s, {MEMORY >> 30} GiB of memory, no network"
FORBIDDEN = {
    "builtins.input": "waits for somebody to type",
    "socket.connect": "opens a connection of its own: use the client that {} is given",
    "socket.bind": "opens a connection of its own: use the client that {} is given",
    "socket.getaddrinfo": "opens a connection of its own: use the client that {} is given",
    "socket.gethostbyname": "opens a connection of its own: use the client that {} is given",
    "socket.sendto": "opens a connection of its own: use the client that {} is given",
    "subprocess.Popen": "starts a process",
    "os.system": "starts a process",
    "os.posix_spawn": "starts a process",
    "os.fork": "starts a process",
    "os.forkpty": "starts a process",
    "os.exec": "starts a process",
}

GiveUp = Callable[[str], None]  # ends this process, and says why


class Watch:
    """Looks once a second where the code is."""

    def __init__(self, target: OwnTarget, give_up: GiveUp, search: int = SEARCH) -> None:
        self.files = target.code.files
        self.function = target.function
        self.actors = f"{target.vocabulary.actor}s"
        self.give_up = give_up
        self.search = search  # s
        self.deadline = search + SHOWING
        self.explorer: Explorer | None = None
        self.seconds = 0
        self.quiet = 0
        self.before: tuple[object, object] | None = None

    def begin(self) -> None:
        memory = MEMORY + _in_use()
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        # For what never comes back to Python, where the alarm below would be heard.
        resource.setrlimit(resource.RLIMIT_CPU, (self.deadline, self.deadline + 5))
        signal.signal(signal.SIGALRM, self._tick)
        signal.setitimer(signal.ITIMER_REAL, 1, 1)
        sys.addaudithook(self._audit)

    @property
    def over(self) -> bool:
        """Is it time to look at no state more?"""
        return self.seconds >= self.search

    def _tick(self, _: int, frame: FrameType | None) -> None:
        self.seconds += 1
        fiber = getcurrent()
        now = (fiber, fiber.request) if isinstance(fiber, Fiber) else None
        same = now is not None and self.before is not None and now[1] is self.before[1]
        self.quiet = self.quiet + 1 if same and not _imports(frame) else 0
        self.before = now
        if self.quiet >= SILENCE:
            text = (
                f"goes on for {SILENCE} s and asks the store for nothing: a loop without an end, "
                "or a call that waits"
            )
            self.give_up(wrong.standing(frame, self.files, text))
        if self.over and self.explorer:
            self.explorer.stop()
        if self.seconds >= self.deadline:
            text = f"stopped after {self.deadline} s: fewer {self.actors} or faults?"
            self.give_up(f"{self.files.name}: {text}")

    def _audit(self, event: str, _: tuple[Any, ...]) -> None:
        if event in FORBIDDEN and isinstance(getcurrent(), Fiber):
            frame = sys._getframe(1)
            text = FORBIDDEN[event].format(self.function)
            self.give_up(wrong.standing(frame, self.files, text))


def _in_use() -> int:
    """Bytes of address space that this process has already; 0 where Linux does not say it."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[0]
    except OSError:
        return 0
    return int(pages) * resource.getpagesize()


def _imports(frame: FrameType | None) -> bool:
    """To load a large library may take its time."""
    while frame is not None:
        if frame.f_globals.get("__name__") == "importlib._bootstrap":
            return True
        frame = frame.f_back
    return False
