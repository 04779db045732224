"""The bench's workers: start them, let them work one cell together, end them."""

from __future__ import annotations

import contextlib
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from servers.process import start

from app.config import Settings
from loadtest.bench import BenchFailed
from loadtest.bench.cell import Count, Shape, Task, Window
from loadtest.bench.contender import ANSWER, Names
from loadtest.bench.rows import LockRow

START_LIMIT = 120.0  # s to get ready: 64 processes that import at once on a busy machine
# s that an attempt may last beyond the window: two answers that never come, and a margin.
FINISH_LIMIT = 2 * ANSWER + 10
LEAD = 0.1  # s from the last Ready to the window: its message must have reached all workers
WARM_UP = 0.3  # s of contention before the window, enough for all to have waited once
TAIL = 12  # lines of a dead worker's log that an error carries


@dataclass
class BenchWorker:
    """One worker process."""

    process: subprocess.Popen[bytes]
    link: Connection
    log: Path

    def say(self, message: object) -> None:
        try:
            self.link.send(message)
        except OSError:
            self.died()

    def hear(self, limit: float) -> Any:
        """Return its next message.

        Raises BenchFailed when it has died, or is silent for `limit` s.
        """
        try:
            if self.link.poll(limit):
                return self.link.recv()
        except (EOFError, OSError):
            self.died()
        raise BenchFailed(f"A worker did not answer within {limit:.0f} s.{self.tail()}")

    def died(self) -> None:
        # It closes the link first and then writes the reason.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(START_LIMIT)
        raise BenchFailed(f"A worker failed.{self.tail()}")

    def tail(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()[-TAIL:]
        return "".join(f"\n    {line}" for line in lines)


@dataclass
class Crew:
    members: list[BenchWorker]
    settings: Settings

    def work(self, row: LockRow, names: Names, shape: Shape, seconds: float) -> list[Count]:
        """Run one cell: all contend in the same window. Raises BenchFailed."""
        members = self.members[: shape.processes]
        # As in a shop with this many threads, each has its own connection to the database (of 40).
        settings = replace(self.settings, shop_threads=shape.threads)
        try:
            for member in members:
                member.say(Task(row, names, settings, shape.threads))
            for member in members:
                member.hear(START_LIMIT)
            start = time.monotonic() + LEAD
            begin = start + WARM_UP
            for member in members:
                member.say(Window(start, begin, begin + seconds))
            end = begin + seconds + FINISH_LIMIT
            return [member.hear(max(0.0, end - time.monotonic())) for member in members]
        except BenchFailed as failed:
            raise BenchFailed(f"{row.name} at {shape}: {failed}") from failed


@contextmanager
def start_workers(folder: Path, settings: Settings, count: int) -> Iterator[Crew]:
    """Start `count` workers that wait for cells; on leaving, kill them by their ids."""
    crew = Crew([], settings)
    try:
        for number in range(count):
            crew.members.append(_start_worker(folder / f"worker-{number}.log"))
        yield crew
    finally:
        for member in crew.members:
            member.process.kill()
        for member in crew.members:
            member.process.wait()
            member.link.close()


def _start_worker(log: Path) -> BenchWorker:
    ours, theirs = multiprocessing.Pipe()
    with theirs:
        command = [sys.executable, "-m", "loadtest.bench.worker", str(theirs.fileno())]
        process = start(command, log, pass_fds=[theirs.fileno()])
    return BenchWorker(process, ours, log)
