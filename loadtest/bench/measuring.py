"""What the benches share: a bar while they measure, and the machine on which they did."""

from __future__ import annotations

import itertools
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version

import psutil
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def progress(cells: int, begins: str) -> Iterator[Callable[[str], None]]:
    """A bar on standard error: what runs now, and the time left. Call what it gives with each cell
    as it begins."""
    with Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=2,  # every refresh takes CPU from what is measured
        speed_estimate_period=600,
    ) as bar:
        task = bar.add_task(begins, total=cells)
        done = itertools.count()
        yield lambda cell: bar.update(task, completed=next(done), description=cell)


def machine() -> str:
    """Where it ran: figures mean nothing without it."""
    # Those that this process may use: in a container often fewer than there are.
    cores = len(psutil.Process().cpu_affinity()) if psutil.LINUX else psutil.cpu_count() or 1
    return (
        f"{cores} cores ({platform.machine()}), {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, redis-py {version('redis')}, "
        f"hiredis {version('hiredis')}"
    )
