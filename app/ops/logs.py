"""The children's logs: they continue from start to start, and stay small.

A log is copied and truncated, not renamed: a child writes straight into its file, which cannot be
exchanged under it. The child opened the file for appending, so its next line after the cut is the
first. Lines between the copy and the cut are lost. The alternative would be a supervisor that
passes every line on: if it stalled, all children would stall, too.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

LARGEST = 4 * 2**20  # bytes of a log before it is cut
KEPT = 3  # older logs next to it: log.1 is the newest


def trim(log: Path) -> None:
    """Copy a large log to an older one and truncate it; on a full disk leave it: it cannot grow."""
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
