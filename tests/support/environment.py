"""What a run of the tests makes of how it was started: its signals, and where its files stand."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 -- tempfile makes folders of its own in it
ROOM = 4 * 2**30  # bytes; a run of all tests takes a fraction of it


def signals_as_usual() -> None:
    """What we were started to ignore, as a shell does in the background and `nohup` does, the
    commands that we start would ignore too: Ctrl-C, of all things. A handler is not handed on."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # some tests raise it themselves
    for number in (signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def files_in_memory() -> None:
    """Keep the tests' files in memory where there is room.

    Their servers sync what they write, and nobody here pulls a plug: what a killed process has
    written is there all the same, and no test waits for the disk of a busy machine.
    """
    if "TMPDIR" in os.environ or not MEMORY.is_dir():
        return
    runs_programs = not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
    if runs_programs and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)
