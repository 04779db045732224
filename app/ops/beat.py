"""fulfil's sign of life: it serves nobody, so nobody can ask it.

A file that it touches with every turn of its loop. That the moment of the last touch changes is
what counts; how old it is, only clocks could tell, and those are set.
"""

from __future__ import annotations

import time
from contextlib import suppress

from app.config import Settings

LOOK = 0.1  # s between two looks
TURN = 5.0  # s that a turn may take beside its wait for the database


class Beat:
    """The sign, given and seen."""

    def __init__(self, settings: Settings) -> None:
        self.file = settings.var / "fulfil.beat"
        self.longest = TURN + settings.database_timeout / 1000  # s between two signs
        self.seen = self._touched()

    def give(self) -> None:
        """A full disk is no reason to stop: an old file can be touched there."""
        with suppress(OSError):
            self.file.touch()

    def moved(self) -> bool:
        """Was a sign given since this was asked last?"""
        before, self.seen = self.seen, self._touched()
        return self.seen != before

    def awaited(self) -> bool:
        """Wait for the next sign, for as long as a turn may take."""
        deadline = time.monotonic() + self.longest
        while not self.moved():
            if time.monotonic() > deadline:
                return False
            time.sleep(LOOK)
        return True

    def _touched(self) -> int:
        try:
            return self.file.stat().st_mtime_ns
        except OSError:
            return 0
