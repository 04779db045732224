"""A test run's environment, however it was started: its signals, and the folder of its files."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 -- tempfile makes folders of its own in it
ROOM = 4 * 2**30  # bytes; a run of all tests takes a fraction of it


def signals_as_usual() -> None:
    """Handle signals that this process was started to ignore, as in the background or by `nohup`.

    Commands that the tests start would ignore them, too, above all Ctrl-C. A handler is not
    inherited.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # some tests raise it themselves
    for number in (signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def files_in_memory() -> None:
    """Keep the tests' files in memory where there is room.

    Their servers sync their writes, but these tests do not cut the power: a killed process's writes
    survive all the same. So no test waits for the disk of a busy machine.
    """
    if "TMPDIR" in os.environ or not MEMORY.is_dir():
        return
    runs_programs = not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
    if runs_programs and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)
