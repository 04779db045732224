"""Progress bars on standard error, one step a cell."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


class Steps:
    """Shows which step is under way. A context manager; without a terminal it shows nothing."""

    def __init__(self) -> None:
        self.console = Console(stderr=True)
        self.bar = _bar(TimeElapsedColumn(), self.console)
        self.task = self.bar.add_task("bringing up the shop", total=None)
        self.done = self.total = 0

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def expect(self, total: int) -> None:
        self.total = total

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Show one step, from entering to leaving; more steps than expected stretch the bar."""
        self.total = max(self.total, self.done + 1)
        self.bar.update(self.task, description=name, total=self.total)
        yield
        self.done += 1
        self.bar.update(self.task, completed=self.done)


@contextmanager
def progress(cells: int, first: str) -> Iterator[Callable[[str], None]]:
    """Show which cell runs and the time left. Call the result with each cell as it begins."""
    with _bar(TimeRemainingColumn(), Console(stderr=True)) as bar:
        task = bar.add_task(first, total=cells)
        done = itertools.count()
        yield lambda cell: bar.update(task, completed=next(done), description=cell)


def _bar(clock: ProgressColumn, console: Console) -> Progress:
    return Progress(
        BarColumn(),
        MofNCompleteColumn(),
        clock,
        TextColumn("{task.description}"),
        console=console,
        transient=True,
        refresh_per_second=2,  # every refresh takes CPU from what is measured
        speed_estimate_period=600,
    )
