"""Processes of a test's own, to be killed and frozen.

They are forked from one that has loaded what they need: starting a new Python takes most of a
second of a core, and tests start more than a hundred of these.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

_fork = get_context("forkserver")
DEEDS = ["lock_holder", "lock_contenders", "killed_sellers", "metered_workers"]
_fork.set_forkserver_preload(["pytest", *(f"tests.support.{deeds}" for deeds in DEEDS)])


class Forked:
    """Calls `deed(pipe, *given)` in a process of its own; `pipe` is its way to us and back."""

    def __init__(self, deed: Callable[..., None], *given: Any) -> None:
        self.pipe: Connection
        self.pipe, theirs = _fork.Pipe()
        self.process = _fork.Process(target=deed, args=(theirs, *given), daemon=True)
        self.process.start()
        theirs.close()

    def tell(self, word: object) -> None:
        self.pipe.send(word)

    def says(self, seconds: float = 30.0) -> Any:
        """Return its next message."""
        assert self.pipe.poll(seconds), f"said nothing for {seconds} s"
        return self.pipe.recv()

    def ask(self, word: object) -> Any:
        self.tell(word)
        return self.says()

    def _signal(self, number: int) -> None:
        assert self.process.pid
        os.kill(self.process.pid, number)

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def ends(self, seconds: float = 60.0) -> int:
        """Wait for its end; return its exit status, -9 when it was killed."""
        self.process.join(seconds)
        assert self.process.exitcode is not None, f"still there after {seconds} s"
        return self.process.exitcode

    def kill(self) -> None:
        self.process.kill()
        self.ends(10)

    def close(self) -> None:
        self.kill()  # also a stopped one
        self.pipe.close()
        self.process.close()
