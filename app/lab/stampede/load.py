"""The buyers of a run: `loadtest.stampede` as a process, which speaks HTTP only."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import IO, cast

from servers.process import start

from app.lab.stampede.sample import Heard

LAST_ANSWERS = 10.0  # s for purchases under way after `stop`
KILL = 2.0  # s more, then it is killed


class Load:
    """The buyers' process; made in the main thread (see end_with_parent).

    `said` is its newest message.
    """

    def __init__(self, url: str, item: str, buyers: int, seconds: int) -> None:
        """Start buying at `url` until `stop`.

        If this process dies, buying ends by itself a little after `seconds`.
        """
        wanted = {
            "url": url,
            "item": item,
            "buyers": buyers,
            "longest_s": seconds + 10,
            "patience_s": LAST_ANSWERS,
        }
        self.said: Heard = {}
        command = [sys.executable, "-m", "loadtest.stampede", json.dumps(wanted)]
        self.process = start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.complaint = b""  # the last line of its errors
        self.readers = [
            threading.Thread(target=read, name="load", daemon=True)
            for read in (self._hear, self._hear_complaints)
        ]
        for reader in self.readers:
            reader.start()

    def _hear(self) -> None:
        with cast(IO[bytes], self.process.stdout) as output:
            for line in output:
                self.said = json.loads(line)

    def _hear_complaints(self) -> None:
        with cast(IO[bytes], self.process.stderr) as errors:
            for line in errors:
                self.complaint = line.strip() or self.complaint

    def alive(self) -> bool:
        """Return whether its process runs."""
        return self.process.poll() is None

    def stop(self) -> None:
        """Begin no new purchases; those under way are still answered."""
        if self.alive():
            self.process.terminate()

    def end(self, seconds: float) -> None:
        """Wait up to `seconds` for its end, then kill it; it is gone afterwards."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for reader in self.readers:
            reader.join()

    def last_word(self) -> str:
        """Return why it ended. Call it after `end`."""
        return self.complaint.decode(errors="replace") or f"exit status {self.process.returncode}"
