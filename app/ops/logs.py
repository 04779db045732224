"""The children's logs: they go on from start to start, and stay small.

Copied and cut, not renamed: a child writes straight into its file, which nobody can take from under
it. It opened the file for appending, so that after the cut its next line is the first. What it says
between the copy and the cut is lost; the way around would be a supervisor that every line passes
through, and who waits for a supervisor that stands still stands still, too.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

LARGEST = 4 * 2**20  # bytes of a log before it is cut
KEPT = 3  # older ones beside it: log.1 is the newest


def trim(log: Path) -> None:
    """Put a log that has grown large aside. On a full disk it stays: it cannot grow there."""
    try:
        if log.stat().st_size < LARGEST:
            return
        first = _older(log, 1)
        if first.exists():
            for number in range(KEPT, 1, -1):
                if _older(log, number - 1).exists():
                    os.replace(_older(log, number - 1), _older(log, number))
        try:
            shutil.copyfile(log, first)
        except OSError:
            first.unlink(missing_ok=True)
            raise
        os.truncate(log, 0)
    except OSError:
        return


def _older(log: Path, number: int) -> Path:
    return log.with_name(f"{log.name}.{number}")
