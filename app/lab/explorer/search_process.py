"""The explorer's process: it answers one question at a time (JSON, a line each, over pipes).

No thread waits for it: a caller polls for its answer. So a server of greenlets can use it, and a
test without any.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any, cast

from servers.process import start

COMMAND = (sys.executable, "-m", "app.explorer.desk")
START_S = 10.0  # more, for the first answer: it has to load all of the modes
PIECE = 1 << 16  # bytes that are read at once
GRACE_S = 2.0  # s to end after SIGKILL


class Gone(Exception):
    """Raised when the process died, or hung and was killed, before its answer.

    The next question starts it again.
    """


@dataclass
class _Child:
    process: subprocess.Popen[bytes]
    asks: IO[bytes]
    says: IO[bytes]


class ExplorerProcess:
    """The process; started with the first question, and again after it has gone."""

    def __init__(self, hangs_s: float) -> None:
        """The process counts as hung, and is killed, after `hangs_s` without an answer."""
        self.hangs_s = hangs_s
        self.child: _Child | None = None
        self.until = 0.0  # by time.monotonic(): then it hangs
        self.heard = b""

    def ask(self, question: dict[str, Any]) -> None:
        """Send a question; only when the last one has been answered. Raises Gone."""
        self.until = time.monotonic() + self.hangs_s
        if self.child is None or self.child.process.poll() is not None:
            self.close()
            self.child = _start()
            self.until += START_S
        try:
            self.child.asks.write(json.dumps(question).encode() + b"\n")
            self.child.asks.flush()
        except OSError as error:
            self.close()
            raise Gone from error

    def answer(self, seconds: float) -> dict[str, Any] | None:
        """Wait up to `seconds` for the answer. None: the process is still at work. Raises Gone."""
        until = min(time.monotonic() + seconds, self.until)
        while b"\n" not in self.heard:
            if self.child is None:
                raise Gone
            out = self.child.says.fileno()
            ready, _, _ = select.select([out], [], [], max(0.0, until - time.monotonic()))
            if not ready and time.monotonic() < self.until:
                return None
            piece = os.read(out, PIECE) if ready else b""
            self.heard += piece
            if not piece:
                self.close()
        line, _, self.heard = self.heard.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        child, self.child, self.heard = self.child, None, b""
        if child:
            child.process.kill()
            child.process.wait(GRACE_S)
            child.says.close()
            with suppress(OSError):  # the rest of a question that it did not read
                child.asks.close()


def _start() -> _Child:
    environ = {**os.environ, "PYTHONHASHSEED": "0"}  # sets have the same order at each run
    pipe = subprocess.PIPE
    process = start(COMMAND, stdin=pipe, stdout=pipe, stderr=None, env=environ)
    return _Child(process, cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout))
