"""A child process in a session of its own: start, freeze, kill and stop it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Self

from servers.waiting import wait

PR_SET_PDEATHSIG = 1  # Linux, prctl(2)
LIBC = ctypes.CDLL(None)  # loaded here: the child of a process with threads must do very little
START = 20.0  # s that a server may take until it answers; about one is usual
STOP = 5.0  # s that a process may take to end before it is killed
READY = b"eady to accept connections"  # Valkey, Redis and PostgreSQL log it, with r or R


class NotStarted(Exception):
    """A server that does not start, with the end of its log."""


def end_with_parent() -> None:
    """Ask for SIGTERM when the parent is killed. Runs in the child, as `preexec_fn`.

    Start the child in the main thread: the signal comes when the starting thread ends. Linux only;
    on other systems a killed parent leaves its children running.
    """
    if sys.platform == "linux":
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def start(
    command: Sequence[str], log: Path | None = None, **options: Any
) -> subprocess.Popen[bytes]:
    """Start a process that ends with this one (see `end_with_parent`) and appends to `log`.

    It has a session of its own, without the terminal's Ctrl-C. `options` are Popen's. Raises
    OSError.
    """
    with log.open("ab", buffering=0) if log else nullcontext(subprocess.DEVNULL) as output:
        usual: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
        usual |= {"start_new_session": True, "preexec_fn": end_with_parent}
        return subprocess.Popen(command, **usual | options)


def end(process: subprocess.Popen[bytes], number: int = signal.SIGINT) -> None:
    """Send a signal; kill the process if it has not ended within STOP seconds."""
    process.send_signal(number)
    try:
        process.wait(STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Server:
    """A process that serves, until it is stopped or its `with` block ends.

    `seconds` is the longest that a start may take. `failure` is raised when a start fails; its
    text has the server's `name`, or else its program's.
    """

    name = ""
    seconds = START
    failure: type[Exception] = NotStarted

    def __init__(self, command: Sequence[str], log: Path, **options: Any) -> None:
        """Start the server with `command`. `options` are Popen's."""
        self.command, self.log, self.options = list(command), log, options
        self.start()

    def start(self) -> None:
        """Start the server and wait until it serves. Raises `failure`."""
        self.begun = self.log.stat().st_size if self.log.exists() else 0
        self.process = start(self.command, self.log, **self.options)
        try:
            wait(lambda: not self.runs() or self.serves(), self.seconds)
            if not (self.runs() and self.serves()):
                name = self.name or Path(self.command[0]).name
                raise self.failure(f"{name} does not start:\n{self.said()}")
        except BaseException:
            self.kill()
            raise

    def said(self) -> str:
        """Return the last 2000 bytes of its log since its last start."""
        return self.log.read_bytes()[self.begun :][-2000:].decode(errors="replace")

    def serves(self) -> bool:
        """Say whether it accepts connections: its log says so."""
        return READY in self.log.read_bytes()[self.begun :]

    def runs(self) -> bool:
        """Say whether its process has not ended."""
        return self.process.poll() is None

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)  # until all of its threads have stopped

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def restore(self) -> None:
        """Make it serve again, whether it is frozen, killed or neither."""
        self.thaw()
        if not self.runs():
            self.start()

    def stop(self) -> None:
        """Stop it by SIGINT: PostgreSQL then does not wait for its clients."""
        self.thaw()
        end(self.process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
