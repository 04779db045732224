"""A progress bar on standard error, one step a cell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


class Steps:
    """Shows which step is under way. A context manager; without a terminal it shows nothing."""

    def __init__(self) -> None:
        self.console = Console(stderr=True)
        self.bar = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=self.console,
            transient=True,
            refresh_per_second=2,  # every refresh takes CPU from what is measured
        )
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
        """One step, from entering to leaving; more of them than expected stretch the bar."""
        self.total = max(self.total, self.done + 1)
        self.bar.update(self.task, description=name, total=self.total)
        yield
        self.done += 1
        self.bar.update(self.task, completed=self.done)
