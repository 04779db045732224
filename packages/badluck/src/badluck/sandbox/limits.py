"""Limits of a user's code while it is explored: actions, time, memory.

They give a clear message where code would hang, or use what the search cannot see. Actions against
other processes are refused by the kernel where it can (seccomp.py).
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from greenlet import getcurrent

from badluck.actor import user_code_error
from badluck.actor.actor import Fiber, Files
from badluck.explorer import Explorer
from badluck.sandbox import seccomp
from badluck.sandbox.job import UserTarget

SEARCH_S = 10  # s; then the search stops, and what was found until then is shown
SHOWING_S = 10  # s more, for showing it
DEADLINE_S = SEARCH_S + SHOWING_S  # s for everything, also CPU time
SILENCE_S = 2  # s in which code may run without a command, a sleep or an end
MEMORY_BYTES = 1 << 30  # bytes of address space
MAX_ANSWER_BYTES = 1 << 26  # bytes that a process may write, to any descriptor
FULL_BYTES = MEMORY_BYTES * 3 // 4  # then the search stops: its report takes memory, too
LIMITS = f"{DEADLINE_S} s, {MEMORY_BYTES >> 30} GiB of memory"
LIMITS_TEXT = f"{LIMITS}, {seccomp.isolation_text()}"
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
FILES = "changes files: the search sees only what actors share in the store"
ENVIRONMENT = "changes the environment, and an actor is a process of its own: let it pass that on"
IN_C = "reaches in C code for the network, a file or a process: use the client that {} is given"
CONNECTION = "opens a connection of its own: use the client that {} is given"
FORBIDDEN = {
    **dict.fromkeys(("open", "os.remove", "os.rename", "os.link", "os.symlink"), FILES),
    **dict.fromkeys(("os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "os.chown"), FILES),
    **dict.fromkeys(("os.utime", "os.setxattr", "fcntl.flock", "fcntl.lockf"), FILES),
    **dict.fromkeys(("os.kill", "os.killpg"), "signals a process"),
    **dict.fromkeys(("os.putenv", "os.unsetenv"), ENVIRONMENT),
    "os.chdir": "changes the folder in which it runs, and an actor is a process of its own",
    "builtins.input": "waits for typed input",
    **dict.fromkeys(("socket.connect", "socket.bind", "socket.sendto"), CONNECTION),
    **dict.fromkeys(("socket.getaddrinfo", "socket.gethostbyname"), CONNECTION),
    **dict.fromkeys(("subprocess.Popen", "os.system", "os.posix_spawn"), "starts a process"),
    **dict.fromkeys(("os.fork", "os.forkpty", "os.exec"), "starts a process"),
}

GiveUp = Callable[[str], None]  # ends this process with a message
TooLong = Callable[[], None]  # ends it with the results so far


class Watchdog:
    """Checks once a second where the code is."""

    def __init__(
        self, target: UserTarget, give_up: GiveUp, too_long: TooLong, search: int = SEARCH_S
    ) -> None:
        self.files = target.code.files
        self.function = target.function
        self.give_up, self.too_long = give_up, too_long
        self.search = search  # s
        self.deadline = search + SHOWING_S
        self.explorer: Explorer | None = None
        self.seconds = 0
        self.quiet = 0
        self.full = 0  # bytes
        self.before: tuple[object, object] | None = None

    def begin(self, signals: Sequence[int] = ()) -> None:
        """Begin to watch; `signals`: the other processes that this one still has to send signals
        to.
        """
        before = _in_use()
        memory = MEMORY_BYTES + before
        self.full = before + FULL_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        # For code that never returns to Python, where the alarm below would be handled.
        resource.setrlimit(resource.RLIMIT_CPU, (self.deadline + 2, self.deadline + 5))
        signal.signal(signal.SIGALRM, self._tick)
        signal.setitimer(signal.ITIMER_REAL, 1, 1)
        signal.signal(signal.SIGSYS, self._refused)
        sys.addaudithook(self._audit)
        seccomp.confine(signals)

    @property
    def over(self) -> bool:
        """Is it time to stop the search?"""
        return self.seconds >= self.search

    def _tick(self, _: int, frame: FrameType | None) -> None:
        self.seconds += 1
        fiber = getcurrent()
        now = (fiber, fiber.request) if isinstance(fiber, Fiber) else None
        same = now is not None and self.before is not None and now[1] is self.before[1]
        self.quiet = self.quiet + 1 if same and not _imports(frame) else 0
        self.before = now
        if self.quiet >= SILENCE_S:
            text = (
                f"runs for {SILENCE_S} s without a command to the store: a loop without an end, "
                "or a call that waits"
            )
            self.give_up(user_code_error.locate(frame, self.files, text))
        if self.explorer and (self.over or _in_use() > self.full):
            self.explorer.stop()
        if self.seconds >= self.deadline:
            self.too_long()

    def _audit(self, event: str, given: tuple[Any, ...]) -> None:
        if event in FORBIDDEN and isinstance(getcurrent(), Fiber):
            if event == "open" and (isinstance(given[0], int) or not given[2] & WRITES):
                return  # opened already, or only read
            if event in ("os.putenv", "os.unsetenv") and self._harmless(sys._getframe(1), given):
                return
            self._forbid(sys._getframe(1), FORBIDDEN[event])

    def _harmless(self, frame: FrameType | None, given: tuple[Any, ...]) -> bool:
        """Allow a change to the same value, and one by a library at its import.

        When a project's module sets a variable at its import, it has done so before actors import
        it again.
        """
        name, *value = given
        return os.environb.get(name) == (value[0] if value else None) or _library(frame, self.files)

    def _refused(self, _: int, frame: FrameType | None) -> None:
        if isinstance(getcurrent(), Fiber):
            self._forbid(frame, IN_C)

    def _forbid(self, frame: FrameType | None, text: str) -> None:
        text = text.format(self.function)
        self.give_up(user_code_error.locate(frame, self.files, text))


def _in_use() -> int:
    """Return the bytes of address space in use; 0 where Linux does not report it."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[0]
    except OSError:
        return 0
    return int(pages) * resource.getpagesize()


def _library(frame: FrameType | None, files: Files) -> bool:
    """Is a library being imported, and is that line its own?"""
    while frame is not None and not files.own(frame.f_code.co_filename):
        if frame.f_globals.get("__name__") == "importlib._bootstrap":
            return True
        frame = frame.f_back
    return False


def _imports(frame: FrameType | None) -> bool:
    """Is there an import? A large library may take its time."""
    while frame is not None:
        if frame.f_globals.get("__name__") == "importlib._bootstrap":
            return True
        frame = frame.f_back
    return False
