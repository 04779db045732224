"""A process and its descendants."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import psutil

GONE = 10.0  # s that the system may take to end killed processes


def family(pid: int) -> list[psutil.Process]:
    """Return the process and its descendants; [] if it has ended."""
    with suppress(psutil.NoSuchProcess):
        leader = psutil.Process(pid)
        return [leader, *leader.children(recursive=True)]
    return []


def command_line(process: psutil.Process) -> str:
    """Return its words, joined; "" if it has ended or is a zombie."""
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


def cpu_seconds(process: psutil.Process) -> float:
    """Return the s of CPU that it has used, user and system, without its children."""
    times = process.cpu_times()
    return float(times.user + times.system)


def kill(processes: Sequence[psutil.Process]) -> None:
    """Kill the processes and wait for their end, GONE s at most."""
    for each in processes:
        with suppress(psutil.NoSuchProcess):
            each.kill()
    psutil.wait_procs(processes, GONE)
