"""A child process ends when its parent is killed and cannot end it."""

from __future__ import annotations

import ctypes
import signal
import sys

PR_SET_PDEATHSIG = 1  # Linux, prctl(2)
LIBC = ctypes.CDLL(None)  # loaded here: the child of a process with threads must do very little


def end_with_parent(by: int = signal.SIGTERM) -> None:
    """Ask for a signal when the parent is killed; for `preexec_fn`, in the child.

    Start the child in the main thread: the system means the thread, and not the process. Linux
    only; elsewhere a process that is killed leaves its children running.
    """
    if sys.platform == "linux":
        LIBC.prctl(PR_SET_PDEATHSIG, by)
