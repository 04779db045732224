"""A process and all that it has started."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import psutil

GONE = 10.0  # s that the system may take to end what was killed


def family(pid: int) -> list[psutil.Process]:
    """Return a process and all below it, so far as they still run."""
    with suppress(psutil.NoSuchProcess):
        leader = psutil.Process(pid)
        return [leader, *leader.children(recursive=True)]
    return []


def command_line(process: psutil.Process) -> str:
    """Return its words; "" when it has ended, or is a zombie."""
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


def cpu_seconds(process: psutil.Process) -> float:
    """Return the CPU time that it has used so far, user and system, without its children's."""
    times = process.cpu_times()
    return float(times.user + times.system)


def kill(processes: Sequence[psutil.Process]) -> None:
    """Kill them and wait for their end."""
    for each in processes:
        with suppress(psutil.NoSuchProcess):
            each.kill()
    psutil.wait_procs(processes, GONE)
