"""One cell: one lock, one shape, one window; and the messages between the bench and its workers.

Task, then Ready from every worker, then Window, then Count. A worker that fails sends nothing: it
ends, and its log has the reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import click

from app.config import Settings
from loadtest.bench.contender import Names
from loadtest.bench.rows import LockRow

MOST_PROCESSES, MOST_THREADS = 64, 128  # a typing error must not swamp the machine


class Shape(NamedTuple):
    """The number of processes, and of threads in each, all contending for the same item."""

    processes: int
    threads: int

    def __str__(self) -> str:
        return f"{self.processes}x{self.threads}"

    @classmethod
    def parse(cls, text: str) -> Shape:
        """Read "2x16". Raises click.BadParameter."""
        if not re.fullmatch(r"(0|[1-9][0-9]{0,3})x(0|[1-9][0-9]{0,3})", text):
            raise click.BadParameter(f"{text!r} is no shape like 2x16, processes x threads")
        processes, threads = map(int, text.split("x"))
        if not (1 <= processes <= MOST_PROCESSES and 1 <= threads <= MOST_THREADS):
            raise click.BadParameter(
                f"{text} is out of bounds: 1 to {MOST_PROCESSES} processes, "
                f"1 to {MOST_THREADS} threads in each"
            )
        return cls(processes, threads)


@dataclass(frozen=True)
class Task:
    """Prepare `threads` contenders of `row`, connected and warm, on the servers in `settings`."""

    row: LockRow
    names: Names
    settings: Settings
    threads: int


@dataclass(frozen=True)
class Ready:
    """All contenders of this worker wait for the window."""


@dataclass(frozen=True)
class Window:
    """Start together; count from begin to end, in seconds of the machine's monotonic clock.

    Before `begin` they warm up: in some locks a thread's first wait opens a connection, and a crowd
    that starts at once is not yet the queue that it becomes.
    """

    start: float
    begin: float
    end: float


@dataclass(frozen=True)
class Count:
    """The work of one worker's contenders.

    An attempt that is under way when the window ends is finished. Its sale counts as units sold,
    not as speed or fairness; its wait counts as a wait (otherwise no contender would look starved).
    An attempt that ended before the window was warm-up: neither wait nor speed.
    """

    in_window: list[int]  # sales of each contender that ended in the window
    sold: int  # all of them
    waits: list[float]  # s, of all attempts
    round_trips: int
    commands: int
